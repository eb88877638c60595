/** Which executors a command is about: one by its id, or all of a selector. */
import { SodaError } from '@soda-scheduler/client';
import { Option } from 'commander';
import { ExitCode, Failure } from '../exit-code.ts';

export interface Selection {
  readonly selector?: string;
}

export const SELECTOR_HELP = `
A selector is terms with commas between, all of which must hold: key=value or key!=value, of id, type,
label, host, version and state (connecting, idle, offered, busy, draining, gone). "version=" means
those that name none. Of types and labels one is enough: label=gpu,label=zone:b means both.`.trim();

export function selectorOption(): Option {
  return new Option('--selector <terms>', 'all executors of which these terms hold');
}

/** The selector; null: one is named. @throws {Failure} both are given, or neither. */
export function selectionOf(id: string | undefined, { selector }: Selection): string | null {
  if ((id === undefined) !== (selector === undefined)) return selector ?? null;
  throw new Failure('say which: the id of an executor, or --selector', ExitCode.usage);
}

/** One of several has left since they were listed: it needs nothing any more. */
export function hasLeft(error: unknown): boolean {
  return error instanceof SodaError && error.status === 404;
}

export function untilWhen(lasting: boolean | undefined): string {
  return lasting === false ? ' (until its process ends: its id was made up for it)' : '';
}
