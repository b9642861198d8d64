// A fault that the operator can mend: it is said in a sentence, without a stack, and stops the start.

export class OperatorError extends Error {
  override name = "OperatorError";
}
