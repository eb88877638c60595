/** Priorities as people type them: seconds of head start, or a name for some. */
import { priorityNames } from '@soda-scheduler/protocol';

export function priorityOf(text: string): number | string {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}

export function priorityTyped(priority: number): string {
  return nameOf(priority) ?? String(priority);
}

/** Undefined: it has none. */
export function nameOf(priority: number): string | undefined {
  return Object.entries(priorityNames).find(([, value]) => value === priority)?.[0];
}
