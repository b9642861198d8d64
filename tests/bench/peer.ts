// A textbook peer of the site, which the benchmark measures beside it: Express, zod, and Prisma's create for each sign-up, as the owner.
import { PrismaPg } from "@prisma/adapter-pg";
import express, { type RequestHandler } from "express";
import { z } from "zod";
import { PrismaClient } from "../../server/database/generated/client.ts";

const { DATABASE_URL: connectionString = "", PORT } = process.env;
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) });

const entry = z.object({
  name: z.string().trim().min(1).max(100),
  email: z.email().max(254).toLowerCase(),
  company: z.string().trim().min(1).max(200),
  job_title: z.string().max(100).nullish(),
});

const join: RequestHandler = async (req, res) => {
  const { job_title = null, ...data } = entry.parse(req.body);
  await prisma.waitlistEntry.create({ data: { ...data, job_title } });
  res.status(201).json({ message: "You joined the list." });
};

const app = express();
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 handles the rejection
app.post("/api/earlyaccess", express.json(), join);
app.listen(Number(PORT), "127.0.0.1");
