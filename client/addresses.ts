// The addresses that both sides name.

export const signupPath = "/api/earlyaccess";

/** The form's section; navigation, hero and the answers without JavaScript lead to it. */
export const formId = "early-access";

/** Stands for every address without a page. */
export const unknownAddress = "/404";

/** Where a form post without JavaScript ends: the landing page with the success message in the form's place. */
export const joinedAddress = `/?joined#${formId}`;
