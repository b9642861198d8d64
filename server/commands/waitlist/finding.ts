// One result of the doctor.

export interface Finding {
  verdict: "ok" | "warning" | "problem";
  what: string;
  /** What was found, and what to do where it is not ok. */
  text: string;
}
