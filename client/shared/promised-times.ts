// Times that the pages promise and the server keeps.

/** How long an address gets no mail after it left, also if somebody signs it up again. */
export const daysWithoutMail = 30;

/** How long after a sign-up its undo button works. The function earlyaccess_leave (prisma/migrations) has the same time. */
export const undoMinutes = 60;

/** The window of the limits per client and network. */
export const limitMinutes = 10;
