// A deadline for work that takes an AbortSignal.

/**
 * Runs the work with a signal that aborts after the time, in milliseconds, or with the outer signal.
 * Not AbortSignal.any with AbortSignal.timeout: a garbage collection removes that
 * timeout, https://github.com/nodejs/node/issues/57736.
 */
export async function withDeadline<T>(
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(outer.reason);
  const timer = setTimeout(() => controller.abort(new DOMException("The time is over.", "TimeoutError")), ms);
  outer.addEventListener("abort", abort);
  if (outer.aborted) abort();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", abort);
  }
}
