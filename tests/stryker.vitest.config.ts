// The unit tests for StrykerJS, which knows no projects of Vitest, and counts only the tests of isolated files.
import { defineConfig } from "vitest/config";
import config from "../vitest.config.ts";

const [unit] = (config.test?.projects ?? []) as { test: object }[];

export default defineConfig({ test: { ...unit?.test, isolate: true } });
