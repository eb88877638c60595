/**
 * What the master says of a field of a request, in the words of whoever typed a command: by its options and arguments.
 * Pure; of a field that is no option it leaves the name as it is.
 */
import type { Command } from 'commander';

/** What stands around the fields of which a command has options. */
const AROUND: readonly string[] = [
  'task',
  'user',
  'filter',
  'change',
  'query',
  'scope',
  'needs',
  'retry',
  'paused',
];

/** Options that have another name than their field. */
const OPTION_OF: Readonly<Record<string, string>> = {
  url: 'hook',
  executor_id: 'executor',
  task_id: 'task',
  expires_at: 'expires',
  interval: 'retry-interval',
  namespace: 'in-namespace',
  namespaces: 'in-namespace',
  paused: 'pause',
  'If-Match': 'at-version',
};
/** Arguments that have. */
const ARGUMENT_OF: Readonly<Record<string, string>> = {
  task_id: 'id',
  executor_id: 'id',
  operation_id: 'id',
  namespace: 'name',
};

interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** `--hook: expected an http or https URL`. */
export function asTyped({ field, message }: FieldError, command: Command): string {
  return `${nameOf(field, command)}: ${inOptions(message, command)}`;
}

/** Fields that a sentence names. */
export function inOptions(sentence: string, command: Command): string {
  return sentence.replace(/`([A-Za-z_.-]+)`/g, (found, field: string) => {
    return wayTo(field, command) ?? found;
  });
}

function nameOf(field: string, command: Command): string {
  return wayTo(field, command) ?? field;
}

/** Of `task.params.width`, where the command has `--params`, `--params width`; null: nothing stands for it. */
function wayTo(field: string, command: Command): string | null {
  // A place in a list is that on the command line.
  const parts = field.replace(/\[\d+\]/g, '').split('.');
  for (let at = 0; at < parts.length; at++) {
    const [head = '', ...rest] = parts.slice(at);
    const isAround = AROUND.includes(head) && rest.length > 0;
    const name = isAround ? null : typedFor(head, command);
    if (name !== null) return [name, rest.join('.')].filter((part) => part !== '').join(' ');
    if (!isAround) break;
  }
  return typedFor(parts[0] ?? '', command);
}

/** Null: it has nothing that stands for the field. */
function typedFor(field: string, { options, registeredArguments }: Command): string | null {
  const kebab = field.replaceAll('_', '-');
  const one = kebab.replace(/s$/, '');
  for (const name of [OPTION_OF[field], kebab, one]) {
    const long = `--${name}`;
    if (options.some((option) => option.long === long) && isOfRequest(long)) return long;
  }
  for (const name of [ARGUMENT_OF[field], field, `${field}s`]) {
    if (registeredArguments.some((argument) => argument.name() === name)) return `<${name}>`;
  }
  return null;
}

/** Not one of those that say how the master is reached. */
function isOfRequest(long: string): boolean {
  return !['--url', '--token', '--json', '--request-timeout'].includes(long);
}
