/** Which trace a request is part of, as W3C Trace Context has it: https://www.w3.org/TR/trace-context/ */

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/s;
/** `sampled` and `random`: what others mean is not known yet. */
const KNOWN_FLAGS = 3;

/** As version 00 writes it; null: it is none, and to be ignored. Of later versions what 00 has is read. */
export function readTraceparent(text: string): string | null {
  const [, version, traceId = '', parentId = '', flags = '', rest] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === 'ff') return null;
  if (version === '00' && rest !== undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return `00-${traceId}-${parentId}-0${Number.parseInt(flags, 16) & KNOWN_FLAGS}`;
}

/** @param traceparent As `readTraceparent` returns it. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
