/** `soda job versions` and `rollback`: how a job was before. */
import { exactJson } from '@soda-scheduler/client';
import { differences } from '@soda-scheduler/protocol';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { changeInWords } from '../definition/definition.ts';

const name = () => new Argument('<job>', 'the job');

export function versionsCommand(): Command {
  return remoteCommand(
    'versions',
    'List the newest thirty versions of a job, and what each changed.',
  )
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const versions = await client.jobs.versions(of);
      const before = new Map(versions.map((one, at) => [one, versions[at + 1]]));
      const requestOf = (one: object) => exactJson(one, 'request');
      await output.rows(
        versions,
        ['version', 'at', 'by', 'changes'],
        (one) => {
          const older = before.get(one);
          const changes = older === undefined ? [] : differences(requestOf(older), requestOf(one));
          return [one.version, one.at, one.by, changes.map(changeInWords).join('; ')];
        },
        (one) => exactJson(one),
      );
    });
}

export function rollbackCommand(): Command {
  return remoteCommand('rollback', 'Make a job as it was in an earlier version, as a new one.')
    .addArgument(name())
    .addArgument(new Argument('<version>', 'which one: "soda job versions"').argParser(versionOf))
    .action(async (of: string, version: number, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const job = await client.jobs.rollback(of, version);
      output.sayView(job, `${of}: as in version ${version}, which is version ${job.version} now`);
    });
}

/** @throws {InvalidArgumentError} */
function versionOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the number of a version.');
}
