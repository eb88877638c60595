/** `soda-executors` as a process: arguments and a configuration in, an exit code out. It opens no port. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createExecutor, type Handler } from '@soda-scheduler/executor-sdk';
import { type Config, readConfig, types } from './config.ts';
import { readCredentials } from './http-request/credentials.ts';
import { requestHandler } from './http-request/request.ts';
import { GuardedRequests } from './requests/guarded-requests.ts';
import { scriptHandler } from './script/script.ts';
import { lookAtScripts } from './script/settings.ts';
import { commandHandler } from './shell-command/command.ts';
import { lookAtCommand } from './shell-command/settings.ts';
import { typeDefinitions } from './type-definitions.ts';

const HELP = `Runs tasks of the ready types that a configuration enables: shell.command, http.request, script.

  soda-executors --config executors.yaml

  --config FILE   YAML or JSON; what is not in it is off (required)
  --check         say what is enabled and what is wrong, and end
  --types         print definitions of the types, for: soda type apply -f
  --help          this

  SODA_EXECUTOR_TOKEN   opens the session, unless the configuration has token_file

Ends by SIGTERM, once what runs has ended or drain_seconds are over. Exit codes: 0 ended as told, 1 something is wrong,
2 wrong usage.`;

interface Looked {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const LOOKS: { readonly [Type in (typeof types)[number]]: (config: Config) => Promise<Looked> } = {
  'shell.command': async ({ 'shell.command': own }) => (own ? lookAtCommand(own) : NOTHING),
  'http.request': async ({ 'http.request': own }) => {
    if (!own) return NOTHING;
    return readCredentials(own).then(
      () => NOTHING,
      (error: Error) => ({ problems: [error.message], warnings: [] }),
    );
  },
  script: async ({ script: own }) => (own ? lookAtScripts(own) : NOTHING),
};

const NOTHING: Looked = { problems: [], warnings: [] };

/** What is wrong, each with the type that it is about, and what is to be known. */
async function lookAt(config: Config): Promise<Looked> {
  const problems: string[] = [];
  const warnings: string[] = [];
  if (process.getuid?.() === 0 && !config.allow_root) {
    problems.push('this is root: run it as a user of its own, or set allow_root: true');
  }
  const enabled = types.filter((type) => config[type] !== undefined);
  if (enabled.length === 0) problems.push(`nothing is enabled: name one of ${types.join(', ')}`);
  for (const type of enabled) {
    const found = await LOOKS[type](config);
    problems.push(...found.problems.map((problem) => `${type}: ${problem}`));
    warnings.push(...found.warnings.map((warning) => `${type}: ${warning}`));
  }
  await tokenOf(config).catch((error: Error) => problems.push(error.message));
  return { problems, warnings };
}

async function handlersOf(config: Config): Promise<[string, Handler][]> {
  const { 'shell.command': command, 'http.request': request, script } = config;
  const handlers: [string, Handler][] = [];
  if (command) handlers.push(['shell.command', commandHandler(command)]);
  if (request) {
    const names = { hosts: 'http.request.hosts', addresses: 'http.request.addresses' };
    const requests = new GuardedRequests({ ...request, names });
    const credentials = await readCredentials(request);
    handlers.push(['http.request', requestHandler(request, requests, credentials)]);
  }
  if (script) handlers.push(['script', scriptHandler(script)]);
  return handlers;
}

async function tokenOf({ token_file: file }: Config): Promise<string | undefined> {
  if (file === undefined) return process.env['SODA_EXECUTOR_TOKEN'];
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(`token_file: ${file} cannot be read: ${error.message}`);
  });
  return text.trim();
}

function tellCheck(config: Config, { problems, warnings }: Looked): void {
  for (const type of types) console.log(`${type}: ${config[type] ? 'enabled' : 'off'}`);
  for (const warning of warnings) console.log(`warning: ${warning}`);
  for (const problem of problems) console.log(`wrong: ${problem}`);
  if (problems.length === 0) console.log('ok');
}

async function start(config: Config): Promise<void> {
  const { url, namespace, id, labels } = config;
  const executor = createExecutor({
    url,
    namespace,
    token: await tokenOf(config),
    ...(id !== undefined && { id }),
    labels,
    drainTimeoutMs: config.drain_seconds * 1000,
    ready: async () => (await lookAt(config)).problems[0] ?? true,
  });
  for (const [type, handler] of await handlersOf(config)) executor.handle(type, handler);
  await executor.start();
}

/** Null: wrong usage, and it was said. */
function argumentsOf(argv: readonly string[]) {
  try {
    const options = {
      config: { type: 'string' },
      check: { type: 'boolean' },
      types: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    const { values } = parseArgs({ args: [...argv], options });
    const isAsking = values.help === true || values.types === true;
    if (!isAsking && values.config === undefined) throw new Error('name a --config');
    return values;
  } catch (error) {
    console.error(`soda-executors: ${(error as Error).message}; see --help`);
    return null;
  }
}

async function main(): Promise<number> {
  const given = argumentsOf(process.argv.slice(2));
  if (given === null) return 2;
  if (given.help === true) {
    console.log(HELP);
    return 0;
  }
  if (given.types === true) {
    process.stdout.write(typeDefinitions());
    return 0;
  }
  const config = await readConfig(given.config ?? '');
  const looked = await lookAt(config);
  if (given.check === true) {
    tellCheck(config, looked);
    return looked.problems.length === 0 ? 0 : 1;
  }
  for (const warning of looked.warnings) console.error(`soda-executors: warning: ${warning}`);
  if (looked.problems.length > 0) throw new Error(looked.problems.join('\n'));
  await start(config);
  return 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(`soda-executors: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  },
);
