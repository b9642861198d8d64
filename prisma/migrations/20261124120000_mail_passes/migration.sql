-- The jobs of confirmation mails that passed the pace (server/models/list/mails.ts): one row per minute.

-- A job counts, whether or not a mail follows: otherwise, the number of one's own mails would tell whether an address is on the list.
CREATE TABLE "earlyaccess_mail_passes" (
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "jobs" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "earlyaccess_mail_passes_pkey" PRIMARY KEY ("minute")
);

-- For the pace, which counts the latest confirmations.
CREATE INDEX "earlyaccess_confirmed_at_idx" ON "earlyaccess"("confirmed_at") WHERE "confirmed_at" IS NOT NULL;
