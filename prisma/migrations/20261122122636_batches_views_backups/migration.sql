-- AlterTable
ALTER TABLE "earlyaccess" ADD COLUMN     "batch" VARCHAR(50);

-- CreateTable
CREATE TABLE "earlyaccess_views" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "day" DATE NOT NULL,
    "source" VARCHAR(253) NOT NULL,
    "views" INTEGER NOT NULL,

    CONSTRAINT "earlyaccess_views_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "earlyaccess_backups" (
    "finished_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "entries" INTEGER NOT NULL,

    CONSTRAINT "earlyaccess_backups_pkey" PRIMARY KEY ("finished_at")
);

-- CreateIndex
CREATE INDEX "earlyaccess_views_day_idx" ON "earlyaccess_views"("day");

-- The web role may insert what it wants: these values are those that `waitlist stats` can show.
ALTER TABLE "earlyaccess_views" ADD CONSTRAINT "earlyaccess_views_possible" CHECK ("views" > 0 AND "day" BETWEEN '1970-01-01' AND '9999-12-31');
