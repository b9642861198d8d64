// Addresses that the client and the server share.

export const signupPath = "/api/earlyaccess";

/** The id of the form's section, which links and responses to form posts lead to. */
export const formId = "early-access";

export const privacyPath = "/privacy";

/**
 * The pages of the two links in the confirmation mail; the query has the token. The page has one button, whose POST to the same
 * address changes data: mail scanners open links.
 */
export const confirmPath = "/confirm";
export const leavePath = "/leave";
export const tokenQuery = "token";

/** The address under which the 404 page is rendered. */
export const unknownAddress = "/404";

/** The query parameter of the landing page with the success message. */
export const joinedQuery = "joined";

/** The landing page with the success message, to which a form post without JavaScript is redirected. */
export const joinedAddress = `/?${joinedQuery}#${formId}`;
