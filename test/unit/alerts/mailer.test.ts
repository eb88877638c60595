/** Mail to receivers of alerts, where the server does not do what it should. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { Mailer } from '../../../master/infrastructure/alerts/mailer.ts';
import { MailReceiver } from '../../helpers/alerts/receivers.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

describe('the mailer of alerts', () => {
  let server: Server;
  let clock: ManualClock;
  let mailer: Mailer;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    clock = new ManualClock();
    const { port } = server.address() as AddressInfo;
    mailer = new Mailer(`smtp://127.0.0.1:${port}`, 'soda@example.com', clock);
  });
  afterEach(() => {
    mailer.stop();
    server.close();
  });

  /** With a server that has greeted, and says no more. */
  async function begin() {
    const failed = mailer.send(['a@example.com'], { id: 'd', told: [], moreCount: 0 }).then(
      () => 'sent',
      (error: unknown) => String(error),
    );
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => undefined).write('220 slow\r\n');
    await once(socket, 'data');
    return { failed, closed: once(socket, 'close') };
  }

  it('gives up within a minute, however often the server says something', async () => {
    const { failed, closed } = await begin();
    await clock.pass(60_000);
    expect(await failed).to.match(/not taken it within 50 s/);
    await closed;
  });

  it('leaves no connection open once it is stopped', async () => {
    const { failed, closed } = await begin();
    mailer.stop();
    expect(await failed).not.to.equal('sent');
    await closed;
  });

  it('says which addresses have not taken it, and tries again those alone that may yet', async () => {
    const receiver = await new MailReceiver().open();
    const sending = new Mailer(receiver.url, 'soda@example.com', clock);
    const to = ['Ann@example.com', 'bob@example.com', 'cy@example.com'];
    const trial = () => sending.send(to, { id: 'd', told: [], moreCount: 0 });
    receiver.refused.set('bob@example.com', 550).set('cy@example.com', 451);
    try {
      expect(await trial()).to.deep.equal({
        error:
          'taken by 1 of 3 addresses; not by cy@example.com: 451 not here; bob@example.com: 550 not here',
        isFinal: false,
      });
      expect((await trial()).isFinal, 'and nobody has taken that one').to.equal(false);
      receiver.refused.delete('cy@example.com');
      expect(await trial()).to.deep.equal({
        error: 'taken by 2 of 3 addresses; not by bob@example.com: 550 not here',
        isFinal: true,
      });
      const mails = [await receiver.next(), await receiver.next()];
      expect(mails.map((mail) => mail.to)).to.deep.equal([['Ann@example.com'], ['cy@example.com']]);
    } finally {
      sending.stop();
      await receiver.close();
    }
  });
});
