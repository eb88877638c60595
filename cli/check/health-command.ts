/** `soda health`: whether work flows, what is in the way, and the command to type next. */
import type { HealthView } from '@soda-scheduler/client';
import type { Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import type { Cell, Output } from '../output.ts';

const exitCodes: Readonly<Record<HealthView['status'], ExitCode>> = {
  ok: ExitCode.ok,
  degraded: ExitCode.degraded,
  stopped: ExitCode.stopped,
};

export function healthCommand(): Command {
  return remoteCommand('health', 'Tell whether work flows, and what is in the way.')
    .addHelpText(
      'after',
      `
The exit code is 0 if all is well, 6 if something is in the way, and 7 if nothing starts; 5 if no master
answers. What is as somebody has decided, or as it is under load, is told as well, and changes neither. "soda
doctor" checks the installation, and "soda task why" tells of one task.`,
    )
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const health = await client.health();
      show(output, health);
      if (health.status !== 'ok') throw new Failure('', exitCodes[health.status]);
    });
}

function show(output: Output, health: HealthView): void {
  const { status, message, flow, success, figures, findings } = health;
  output.fields(health, [
    ['status', status],
    ['flow', flow?.message ?? message],
    ['success', success?.message ?? null],
    ['figures', ageOf(figures)],
    ...findings.flatMap((finding): [string, Cell][] => [
      [finding.severity, since(finding)],
      ['  because', finding.cause],
      ['  advice', finding.advice],
      ['  next', finding.command],
    ]),
  ]);
}

function since({ message, since: at }: HealthView['findings'][0]): string {
  return at === null ? message : `${message} (since ${at})`;
}

function ageOf({ fresh, at, age, since: from }: HealthView['figures']): string {
  if (at === null) return 'none: the master knows of no task yet';
  const known = `ends of attempts are known since ${from}`;
  return fresh ? `of ${at}, fresh; ${known}` : `of ${at}, ${age} s old; ${known}`;
}
