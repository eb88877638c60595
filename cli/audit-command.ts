/** `soda audit`: who has changed what; and whether that is as it was written. */
import type { AuditQuery, AuditView, SodaClient } from '@soda-scheduler/client';
import { HTTP_LIMITS } from '@soda-scheduler/protocol';
import type { Command } from 'commander';
import { type ConnectionOptions, connect, masterwideCommand } from './connection.ts';
import { instantOf, TIME } from './instant.ts';
import { count } from './options.ts';
import { upTo } from './task/task-search.ts';

interface AuditOptions extends ConnectionOptions {
  readonly from?: string;
  readonly to?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly limit?: number;
}

export function auditCommand(): Command {
  return masterwideCommand('audit', 'List who has changed what, newest first.')
    .option('--from <time>', `not before, ${TIME}`)
    .option('--to <time>', 'before')
    .option('--actor <token>', 'by this token, by its name')
    .option('--action <action>', 'of this kind: type.pause, or type for all that begin so')
    .option('--target <name>', 'of this task, type, executor or whatever it is')
    .option('--limit <count>', 'so many at most (default: all)', count)
    .addHelpText(
      'after',
      `
Into a pipe: the columns of the table, with tabs between; --json has how it was before and after. The last one says of an
operation on many tasks what was done, and to which.

Examples:
  $ soda audit --action type --target encode
  $ soda audit --actor ann --from -2d --json
  $ soda doctor --verify-audit`,
    )
    .action(async (options: AuditOptions) => {
      const { client, output } = connect(options);
      const head = ['at', 'actor', 'action', 'target', 'namespace', 'outcome', 'reason', 'what'];
      const found = upTo(options.limit, client.audit.list(queryOf(options)));
      await output.rows(found, head, (one) => [
        one.at,
        one.actor,
        one.action,
        one.target,
        one.namespace,
        one.outcome,
        one.reason,
        whatInWords(one),
      ]);
    });
}

/** Of an operation on many tasks, whose name says nothing: `cancel of 3800: type=encode state=failed`. */
function whatInWords({ count, filter, after }: AuditView): string | null {
  const action = after?.['action'];
  if (filter === null || typeof action !== 'string') return null;
  const terms = Object.entries(filter).map(([name, value]) =>
    Array.isArray(value) ? `${value.length} ${name}` : `${name}=${String(value)}`,
  );
  return `${action} of ${count ?? 0}: ${terms.length === 0 ? 'all' : terms.join(' ')}`;
}

function queryOf({ actor, action, target, from, to, limit }: AuditOptions): AuditQuery {
  const size = Math.min(limit ?? HTTP_LIMITS.listCountMax, HTTP_LIMITS.listCountMax);
  return { actor, action, target, from: instantOf(from), to: instantOf(to), limit: size };
}

/** What `soda doctor --verify-audit` finds. */
export async function verifiedInWords(
  client: SodaClient,
): Promise<{ readonly isWhole: boolean; readonly inWords: string }> {
  const { count, from, to, misfit } = await client.audit.verify();
  if (misfit !== null) {
    const at = misfit.at === null ? '' : ` of ${misfit.at}`;
    const inWords = `row ${misfit.number}${at}: ${misfit.message}; ${count} before it are as they were written`;
    return { isWhole: false, inWords };
  }
  const span = count === 0 ? '' : ` from ${from} to ${to}`;
  return { isWhole: true, inWords: `${count} rows${span}, unbroken` };
}
