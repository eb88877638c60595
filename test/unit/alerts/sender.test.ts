/** Alerts to a receiver that takes them, and never answers. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { AlertReceiver } from '../../../master/domain/alerts/rule.ts';
import { HttpAlertSender } from '../../../master/infrastructure/alerts/alert-sender.ts';
import { AddressPolicy } from '@soda-scheduler/address-policy';
import { ManualClock } from '../../helpers/manual-clock.ts';

describe('the sender of alerts', () => {
  let server: Server;
  let clock: ManualClock;
  let sender: HttpAlertSender;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    clock = new ManualClock();
    const policy = new AddressPolicy(['127.0.0.0/8'], 'SODA_NOTIFY_ALLOW');
    const resolve = () => Promise.reject(new Error('it is an address'));
    sender = new HttpAlertSender({ secrets: [], policy, resolve, clock, mailer: null });
  });
  afterEach(() => {
    sender.stop();
    server.closeAllConnections();
    server.close();
  });

  /** As `soda alert test` does. */
  async function begin(change: Partial<AlertReceiver> = {}) {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const ops: AlertReceiver = {
      ...{ name: 'ops', channel: 'slack', to: [], url, secret: null, template: null },
      ...change,
    };
    const tried = sender.send(ops, { id: 'd', told: [], moreCount: 0 });
    const [req] = (await once(server, 'request')) as [IncomingMessage];
    return { req, tried, closed: once(req.socket, 'close') };
  }

  it('gives up within a quarter of a minute, and says why', async () => {
    const { tried, closed } = await begin();
    let isOver = false;
    void tried.then(() => (isOver = true));
    await clock.pass(14_000);
    expect(isOver).to.equal(false);
    await clock.pass(1_000);
    expect(await tried).to.deep.equal({ error: 'no answer within 15 s', isFinal: false });
    await closed;
  });

  it('sends JSON that turns no line around, and says the same', async () => {
    const turned = 'abc\u202Eexe.\u2066txt';
    const template = JSON.stringify({ turned });
    const { req, tried } = await begin({ channel: 'json', template });
    const body = (await req.setEncoding('utf8').toArray()).join('');
    expect(body).to.equal(String.raw`{"turned":"abc\u202eexe.\u2066txt"}`);
    expect(JSON.parse(body)).to.deep.equal({ turned });
    sender.stop();
    await tried;
  });

  it('ends what it waits for once it is stopped', async () => {
    const { tried, closed } = await begin();
    sender.stop();
    expect((await tried).error).to.be.a('string');
    await closed;
  });
});
