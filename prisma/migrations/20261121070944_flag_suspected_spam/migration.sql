-- AlterTable
ALTER TABLE "earlyaccess" ADD COLUMN     "disposable_email" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "suspected_spam" BOOLEAN NOT NULL DEFAULT false;
