// Faults of the database: pages go on, nobody is told a success that is not true, and everything recovers by itself.
import type { Scenario } from "./scenario.ts";

export const faults: Scenario[] = [];
