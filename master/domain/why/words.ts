/** Numbers, times and names in sentences. */

export const ABOUT_TO_START = 'An executor is free: it is about to be offered.';

/** `40 d 7 h`, `1 min 5 s`: two units are enough. */
export function inWords(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  if (first === -1) return '0 s';
  const shown = parts.slice(first, first + 2).filter(([value]) => value > 0);
  return shown.map(([value, unit]) => `${value} ${unit}`).join(' ');
}

/** `1 executor`, `3 executors`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2 tasks come first`. */
export function comeFirst(count: number): string {
  return `${counted(count, 'task')} ${count === 1 ? 'comes' : 'come'} first`;
}

export function inMb(bytes: number): string {
  return `${Math.floor(bytes / 1e6)} MB`;
}

/** ` with the labels a, b`, or nothing. */
export function withLabels(labels: readonly string[]): string {
  if (labels.length === 0) return '';
  return ` with the ${labels.length === 1 ? 'label' : 'labels'} ${labels.join(', ')}`;
}
