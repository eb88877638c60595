/**
 * The request that the requirements of this scheduler give as their example, letter for letter but
 * for the port of the receiver: a plain master takes it, and calls that receiver back.
 */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { SodaCommand } from '../helpers/soda/command.ts';

const SAMPLE =
  '{    "task":{        "type":"submit_task",        "user":{            "group":"soda",            "project":"scheduler2.x",            "env":"dev",            "user":"xxc"        },        "notify_url":"http://localhost:18887"    } }';

describe('the sample of the requirements', function () {
  let folder: string;
  let command: SodaCommand;
  let receiver: Server;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-sample-'));
    command = new SodaCommand(folder);
    receiver = createServer();
    receiver.listen(0, 'localhost');
    await once(receiver, 'listening');
  });

  afterEach(async () => {
    command.killAll();
    receiver.close();
    receiver.closeAllConnections();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  it('is accepted by a plain `soda master`, which calls its receiver back', async () => {
    const url = await startMaster(command);
    const { port } = receiver.address() as AddressInfo;
    const called = once(receiver, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    const submitted = await post(
      `${url}/scheduler/v2/task/submit`,
      SAMPLE.replace('18887', `${port}`),
    );
    expect(submitted).to.include({ code: 202 });

    // No executor has such a type here: a cancel is an end like any other.
    await post(`${url}/scheduler/v2/task/${submitted['task_id']}/cancel`, '{}');
    const [request, response] = await called;
    const body = JSON.parse(await text(request)) as Record<string, unknown>;
    response.writeHead(204).end();
    expect(body).to.deep.include({
      task_id: submitted['task_id'],
      type: 'submit_task',
      state: 'canceled',
      user: { group: 'soda', project: 'scheduler2.x', env: 'dev', user: 'xxc' },
    });
  });
});

/** On loopback, without tokens; only the port is chosen. Resolves once it takes tasks. */
async function startMaster(command: SodaCommand): Promise<string> {
  const master = command.start(['master', '--port', '0']);
  let url = '';
  for await (const line of createInterface(master.stdout)) {
    url = /"url":"([^"]+)"/.exec(line)?.[1] ?? url;
    if (!line.includes('"event":"term"')) continue;
    master.stdout.resume();
    return url;
  }
  throw new Error('the master has ended');
}

async function post(url: string, body: string): Promise<Record<string, string | number>> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body });
  return (await answer.json()) as Record<string, string | number>;
}
