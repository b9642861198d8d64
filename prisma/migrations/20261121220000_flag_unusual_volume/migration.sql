-- AlterTable
ALTER TABLE "earlyaccess" ADD COLUMN     "unusual_volume" BOOLEAN NOT NULL DEFAULT false;
