// One result of the doctor.

export interface Finding {
  verdict: "ok" | "warning" | "problem";
  what: string;
  /** What was found, and what to do unless it is ok. */
  text: string;
}
