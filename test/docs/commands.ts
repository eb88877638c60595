/**
 * Runs commands of `soda` for the shells of those who follow a page, in this process: a process takes a
 * hundred times as long. What runs a master, or goes on in a terminal of its own, is a process.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { runInProcess } from '../helpers/soda/in-process.ts';

/**
 * Finds a command as npx does in a project, and starts in no time; that npx does, `pack.test.ts` holds. It
 * says where it is, how many arguments it has, these, what is set, and nothing, each with a zero behind it;
 * and hears an exit code, and how long what follows is: what is printed, and what is said of errors.
 */
export const NPX = `#!/bin/bash
name=$1; shift
if [ -z "$CALLS_PORT" ] || [ "$name" != soda ] || [ "$1" = dev ] || [ "$1" = master ]; then
  exec "$(dirname "$0")/../node_modules/.bin/$name" "$@"
fi
exec 3<>"/dev/tcp/127.0.0.1/$CALLS_PORT"
{
  printf '%s\\0' "$PWD" "$#" "$@"
  for set in "\${!SODA_@}"; do printf '%s\\0' "$set=\${!set}"; done
  printf '\\0'
} >&3
read -r code out_bytes err_bytes <&3
head -c "$out_bytes" <&3
head -c "$err_bytes" <&3 >&2
exit "$code"
`;

interface Call {
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export class Commands {
  readonly #server: Server = createServer((socket) => void answer(socket));

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await once(this.#server.close(), 'close');
  }
}

async function answer(socket: Socket): Promise<void> {
  // Whoever asks may be ended before the answer.
  socket.on('error', () => undefined);
  let said = '';
  for await (const chunk of socket.setEncoding('utf8')) {
    said += chunk;
    const call = callOf(said);
    if (call === null) continue;
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, NO_COLOR: '1', ...call.env };
    const { code, out, err } = await runInProcess(call.args, { ...call, env, input: '' });
    const head = `${code} ${Buffer.byteLength(out)} ${Buffer.byteLength(err)}\n`;
    socket.end(head + out + err);
  }
}

/** Null for one that has not been said to its end. */
function callOf(said: string): Call | null {
  const [folder = '', count = '', ...rest] = said.split('\0').slice(0, -1);
  const args = rest.slice(0, Number(count));
  const set = rest.slice(Number(count));
  const end = set.indexOf('');
  if (count === '' || end < 0) return null;
  const env = set.slice(0, end).map((each) => {
    const at = each.indexOf('=');
    return [each.slice(0, at), each.slice(at + 1)];
  });
  return { folder, args, env: Object.fromEntries(env) as NodeJS.ProcessEnv };
}
