-- CreateTable
CREATE TABLE "earlyaccess" (
    "id" UUID NOT NULL,
    "name" VARCHAR(100) NOT NULL,
    "email" VARCHAR(254) NOT NULL,
    "company" VARCHAR(200) NOT NULL,
    "job_title" VARCHAR(100),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "earlyaccess_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "earlyaccess_email_key" ON "earlyaccess"("email");

-- Unique means unique whatever the case, also for what is entered in Studio.
ALTER TABLE "earlyaccess" ADD CONSTRAINT "earlyaccess_email_lower_case" CHECK ("email" = lower("email"));
