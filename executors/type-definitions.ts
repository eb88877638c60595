/** How a master may know the ready types, so that params that no handler could use are refused when they are submitted. */
import { stringify } from 'yaml';
import { z } from 'zod';
import { requestParams } from './http-request/params.ts';
import { scriptParams } from './script/script.ts';
import { commandParams } from './shell-command/command.ts';

const DEFINITIONS = [
  ['shell.command', 'Runs a program that the executor allows, without a shell.', commandParams],
  [
    'http.request',
    'Asks a host that the executor allows, and polls until it is done.',
    requestParams,
  ],
  ['script', 'Runs a file of the executor whose content has that digest.', scriptParams],
] as const;

/** For `soda type apply -f`. What no schema can say, the handlers refuse. */
export function typeDefinitions(): string {
  return DEFINITIONS.map(([type, description, params]) => {
    const params_schema = z.toJSONSchema(params, { io: 'input' });
    return stringify({ type, description, params_schema });
  }).join('---\n');
}
