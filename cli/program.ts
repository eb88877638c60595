/** The `soda` command with all its subcommands. Building it runs nothing and asks nobody. */
import { readFileSync } from 'node:fs';
import { didYouMean } from '@soda-scheduler/protocol';
import { Command } from 'commander';
import { alertCommand } from './alert/alert-command.ts';
import { auditCommand } from './audit-command.ts';
import { bookingCommand } from './booking/booking-command.ts';
import { bulkCommand } from './bulk/bulk-command.ts';
import { blackoutCommand } from './calendar/blackout-command.ts';
import { calendarCommand } from './calendar/calendar-command.ts';
import { operationCommand } from './bulk/operation-command.ts';
import { doctorCommand } from './check/doctor-command.ts';
import { healthCommand } from './check/health-command.ts';
import { eventsCommand } from './task/events-command.ts';
import { searchLogsCommand } from './task/logs-command.ts';
import { historyCommand } from './history/history-command.ts';
import { executorCommand } from './executor/executor-command.ts';
import { fleetCommand } from './fleet/fleet-command.ts';
import { jobCommand } from './job/job-command.ts';
import { limitCommand } from './control/limit-command.ts';
import { addSettings, devCommand, listenForSignals, masterCommand } from './master-command.ts';
import { pauseCommand, pausesCommand, resumeCommand } from './control/pause-command.ts';
import { reportCommand } from './report/report-command.ts';
import { namespaceCommand } from './namespace-command.ts';
import { tokenCommand, whoamiCommand } from './token-command.ts';
import { typeCommand } from './type/type-command.ts';
import { viewCommand } from './view-command.ts';
import { taskCommand } from './task/task-command.ts';

const HELP = `
Environment:
  SODA_URL        where the master is (default: http://127.0.0.1:18890)
  SODA_TOKEN      the token, where the master wants one
  SODA_NAMESPACE  whose tasks and executors are meant (default: default)
  SODA_CA_FILE    who may have signed the certificate of the master, in PEM (default: whom Node trusts)
  NO_COLOR        no colours, whatever the terminal can do
  The settings of a master, SODA_*: see "soda master --help".

Exit codes:
  0 done    1 failed    2 usage or settings    3 not found    4 conflict    5 master unreachable
  6 work is degraded, 7 it is stopped (soda health)    130 interrupted

Begin with:
  $ soda dev                      a master to try things out, in this terminal
  $ soda task submit --help       what a task may ask for
  $ soda doctor                   what is missing on this machine
  $ soda health                   whether work flows, and what is in the way`;

export function program(): Command {
  const { version } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  const soda = new Command('soda')
    .description('Run a Soda Scheduler master, submit and follow tasks, look after executors.')
    .version(version)
    .helpCommand(false)
    .showSuggestionAfterError()
    .showHelpAfterError('Run it with --help for what it takes.')
    .exitOverride()
    .addHelpText('after', HELP)
    .hook('preSubcommand', async (_soda, command) => {
      if (command.name() !== 'master' && command.name() !== 'dev') return;
      // First: to load the master takes a while.
      listenForSignals();
      await addSettings(command);
    });
  // After the settings above, which subcommands inherit.
  for (const command of [
    devCommand(),
    masterCommand(),
    taskCommand(),
    bulkCommand(),
    operationCommand(),
    jobCommand(),
    bookingCommand(),
    calendarCommand(),
    blackoutCommand(),
    typeCommand(),
    viewCommand(),
    limitCommand(),
    pauseCommand(),
    resumeCommand(),
    pausesCommand(),
    executorCommand(),
    fleetCommand(),
    namespaceCommand(),
    tokenCommand(),
    whoamiCommand(),
    eventsCommand(),
    searchLogsCommand(),
    alertCommand(),
    reportCommand(),
    auditCommand(),
    healthCommand(),
    historyCommand(),
    doctorCommand(),
  ]) {
    inherit(command, soda);
    soda.addCommand(command);
  }
  suggestOn(soda);
  return soda;
}

/** What others call what is here. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  add: ['submit', 'set', 'create'],
  create: ['submit', 'set'],
  describe: ['get'],
  info: ['get', 'whoami'],
  kill: ['cancel', 'remove'],
  log: ['logs'],
  ls: ['list'],
  ps: ['list'],
  remove: ['delete', 'revoke'],
  rm: ['delete', 'remove', 'revoke'],
  run: ['submit'],
  show: ['get', 'list'],
  start: ['master', 'resume', 'submit'],
  status: ['get', 'health'],
  stop: ['cancel', 'pause'],
  tail: ['logs'],
  update: ['change', 'set'],
};

/** Of what is spelled nearly so, or goes by another name elsewhere. */
function suggestOn(command: Command): void {
  if (command.commands.length === 0) return;
  command.on('command:*', ([unknown = '']: string[]) => {
    const names = command.commands.map((one) => one.name());
    const meant = (OTHER_NAMES[unknown] ?? []).find((name) => names.includes(name));
    const hint = meant === undefined ? didYouMean(unknown, names) : `; did you mean ${meant}?`;
    command.error(`error: unknown command '${unknown}'${hint}`, {
      code: 'commander.unknownCommand',
    });
  });
}

function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent).helpCommand(false);
  suggestOn(command);
  for (const child of command.commands) inherit(child, command);
}
