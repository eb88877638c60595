/** Alerts over HTTP, on a whole master: rules, receivers, what is said, each channel, and who sees what. */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import { createClient } from '@soda-scheduler/client';
import { createExecutor } from '@soda-scheduler/executor-sdk';
import { type AlertMessage, type AlertView, API_BASE } from '@soda-scheduler/protocol';
import { Webhook } from 'standardwebhooks';
import { HookReceiver, MailReceiver } from '../../helpers/alerts/receivers.ts';

describe('alerts over HTTP', () => {
  let folder: string;
  let hook: HookReceiver;
  let mail: MailReceiver;
  let master: Awaited<ReturnType<typeof runMaster>>;

  async function start(): Promise<void> {
    const env = {
      SODA_SMTP_URL: mail.url,
      SODA_MAIL_FROM: 'Soda <soda@example.com>',
      SODA_ALIVE_URL: hook.url('/alive'),
    };
    const outcome = loadConfig({ env, flags: { port: '0', dataDir: folder } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
    expect((await hook.next()).path).to.equal('/alive');
  }

  async function call(method: string, route: string, body?: unknown, token?: string) {
    const answer = await fetch(master.url + API_BASE + route, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }
  const errorsIn = async (asked: ReturnType<typeof call>) => {
    const { status, body } = await asked;
    const errors = (body['errors'] ?? []) as { field: string; message: string }[];
    return `${status} ${errors.map(({ field, message }) => `${field}: ${message}`).join('; ')}`;
  };
  const listed = async (query = '', token?: string) =>
    (await call('GET', `/alerts${query}`, undefined, token)).body['alerts'] as AlertView[];
  const receiver = (name: string, body: object) => call('PUT', `/alert-receiver/${name}`, body);
  const tokenOf = async (name: string, role: string, scope?: object) =>
    (await call('POST', '/tokens', { name, role, ...(scope && { scope }) })).body[
      'token'
    ] as string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'soda-alerts-'));
    hook = await new HookReceiver().open();
    mail = await new MailReceiver().open();
    await start();
  });
  after(async () => {
    await master.stop();
    await hook.close();
    await mail.close();
    await rm(folder, { recursive: true });
  });
  afterEach(async () => {
    hook.answer = { status: 200, text: 'ok' };
    const { receivers } = (await call('GET', '/alert-receivers')).body as {
      receivers: { name: string }[];
    };
    for (const { name } of receivers) await call('DELETE', `/alert-receiver/${name}`);
  });

  it('has rules for every kind, which are set, shown and taken back', async () => {
    const rules = async () =>
      (await call('GET', '/alert-rules?limit=200')).body['rules'] as Record<string, unknown>[];
    const defaults = await rules();
    expect(defaults.map(({ kind }) => kind)).to.deep.equal(defaults.map(({ name }) => name));
    expect(defaults).to.have.length(16);
    const rule = { kind: 'oldest_wait', scope: { types: ['live'] }, threshold: 30, repeat: null };
    const set = await call('PUT', '/alert-rule/live-waits', rule);
    expect(set.status).to.equal(201);
    expect(set.body).to.deep.equal({
      ...rule,
      ...{ name: 'live-waits', window: null, reasons: ['all_busy'], severity: 'warning' },
      ...{ receivers: null, checks: 2, enabled: true },
    });
    expect((await call('PUT', '/alert-rule/live-waits', rule)).status).to.equal(200);
    expect(await rules()).to.have.length(17);
    await call('PUT', '/alert-rule/disk', { kind: 'disk', threshold: 5 });
    expect((await rules()).find(({ name }) => name === 'disk')?.['threshold']).to.equal(5);
    await call('DELETE', '/alert-rule/disk');
    expect(await rules()).to.deep.include(defaults.find(({ name }) => name === 'disk'));
    expect((await call('DELETE', '/alert-rule/disk')).status).to.equal(404);
    await call('DELETE', '/alert-rule/live-waits');
    const page = await call('GET', '/alert-rules?limit=1&cursor=disk');
    expect(page.body['next_cursor']).to.equal('executor_flapping');
  });

  it('refuses rules and receivers that cannot be, and names what is wrong', async () => {
    const rule = (body: object) => errorsIn(call('PUT', '/alert-rule/a', body));
    expect(await rule({ kind: 'backlog', window: 5, reasons: ['paused'] })).to.equal(
      '400 window: not for this kind; reasons: only for oldest_wait',
    );
    expect(await rule({ kind: 'poison', window: 9999 })).to.match(/window: expected up to 3600/);
    expect(await rule({ kind: 'disk', receivers: ['x'] })).to.match(/there is no receiver x/);
    expect(await rule({ kind: 'disk', scope: { types: ['a'] } })).to.match(/there is one disk/);
    expect(await rule({ kind: 'dsk' })).to.match(/^400 kind: /);
    const to = (body: object) => errorsIn(receiver('a', body));
    expect(await to({ channel: 'mail', url: 'https://a.example' })).to.match(
      /^400 to: the channel mail needs it; url: not for the channel mail$/,
    );
    expect(await to({ channel: 'mail', to: ['a'] })).to.match(/^400 to\[0\]: /);
    expect(await to({ channel: 'slack', url: 'http://10.0.0.1/x' })).to.match(/a private address/);
    expect(await to({ channel: 'slack', url: 'file:///x' })).to.match(/url: expected an http/);
    expect(await to({ channel: 'webhook', url: 'https://a.example', secret: 'x' })).to.match(
      /secret: expected `whsec_`/,
    );
    expect(await to({ channel: 'slack', url: 'https://a.example', template: {} })).to.match(
      /template: not for the channel slack/,
    );
    const template = { a: '{{text}}'.repeat(200), b: '{{count}}' };
    expect(await to({ channel: 'json', url: 'https://a.example', template })).to.equal(
      '400 template: expected up to 200 names in double braces, got 201',
    );
    expect((await call('PUT', '/alert-rule/a%20b', { kind: 'disk' })).status).to.equal(400);
  });

  it('never tells again what a receiver knows the master by, not even to the audit', async () => {
    const secret = `whsec_${Buffer.alloc(32, 'hush').toString('base64')}`;
    const url = hook.url('/services/hush?token=hush');
    const set = await receiver('ops', { channel: 'webhook', url, secret });
    expect(set.status).to.equal(201);
    const shown = { ...{ name: 'ops', channel: 'webhook', to: null, template: null } };
    const view = { ...shown, url: `${hook.url('')}/***`, has_secret: true };
    expect(set.body).to.deep.equal(view);
    expect((await call('GET', '/alert-receivers')).body['receivers']).to.deep.equal([view]);
    const audit = await call('GET', '/audit?action=alert_receiver');
    expect(JSON.stringify(audit.body)).to.include('ops').and.not.include('hush');
    expect(JSON.stringify(audit.body)).not.to.include(secret);
  });

  it('tells a webhook what is said, signed, and what became of it', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await receiver('ops', { channel: 'webhook', url: hook.url('/hook'), secret });
    const said = await call('POST', '/alert', {
      ...{ severity: 'critical', message: 'disk 95 % full' },
      fields: { host: 'nas-1' },
    });
    expect(said.status).to.equal(200);
    const [id] = said.body['alerts'] as string[];
    const posted = await hook.next();
    const body = new Webhook(secret).verify(
      posted.text,
      posted.headers as Record<string, string>,
    ) as AlertMessage;
    expect(posted.headers['webhook-id']).to.equal(`msg_${body.id}`);
    expect(body.alerts).to.have.length(1);
    expect(body.alerts[0]).to.deep.include({
      ...{ id, event: 'raised', rule: 'message', severity: 'critical', message: 'disk 95 % full' },
      ...{ namespace: 'default', subject: 'disk # % full', fields: { host: 'nas-1' }, count: 1 },
    });
    // The same, but for its number.
    const again = await call('POST', '/alert', { severity: 'critical', message: 'disk 97 % full' });
    expect(again.body['alerts']).to.deep.equal([id]);
    const [one] = await listed();
    expect(one).to.deep.include({ id, count: 2, message: 'disk 97 % full', repeats: 0 });
    expect(one?.deliveries[0]).to.deep.include({ receiver: 'ops', event: 'raised', tries: 1 });
  });

  it('tells what a handler says of its task, in the same words once', async () => {
    await receiver('ops', { channel: 'webhook', url: hook.url('/hook') });
    const executor = createExecutor({
      url: master.url,
      handleSignals: false,
      onEvent() {},
    }).handle<number>('encode', (task, ctx) =>
      ctx.alert('critical', `no licence for ${task.params}`, { seats: 4 }),
    );
    await executor.start();
    const client = createClient({ url: master.url });
    for (const id of ['a', 'b']) {
      const params = id === 'a' ? 1 : 20;
      await client.submit({ id, type: 'encode', params }, { group: 'news' });
      await client.wait(id);
    }
    await executor.stop();
    const [told] = (JSON.parse((await hook.next()).text) as AlertMessage).alerts;
    expect(told).to.deep.include({
      ...{ severity: 'critical', type: 'encode', group: 'news', fields: { seats: 4 } },
      subject: 'type encode, group news: no licence for #',
    });
    expect(told?.message).to.match(/^Task a on executor .*: no licence for 1$/);
    const said = (await listed()).find(({ id }) => id === told?.id);
    expect(said?.count).to.equal(2);
    expect(said?.message).to.match(/^Task b on executor .*: no licence for 20$/);
  });

  it('has what is raised after a restart, silences it, and keeps who did', async () => {
    const said = await call('POST', '/alert', { message: 'to be silenced' });
    const [id] = said.body['alerts'] as string[];
    await master.stop();
    await start();
    const silence = (until: unknown, reason?: string) =>
      call('POST', `/alert/${id}/silence`, { until, reason });
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const why = 'a disk comes at ten';
    const silent = { id, silenced_until: until, silence_reason: why };
    expect((await silence(until, why)).body).to.deep.include(silent);
    expect((await listed()).find((alert) => alert.id === id)).to.deep.include(silent);
    expect(await errorsIn(silence('2020-01-01T00:00:00Z'))).to.match(/yet to come/);
    expect(await errorsIn(silence('2090-01-01T00:00:00Z'))).to.match(/up to 30 days/);
    expect((await silence(null)).body).to.deep.include({
      silenced_until: null,
      silence_reason: null,
    });
    expect((await call('POST', '/alert/al-x/silence', { until })).status).to.equal(404);
    const audit = (await call('GET', '/audit?action=alert.silence')).body['changes'];
    expect(JSON.stringify(audit)).to.include(id);
  });

  it('speaks the language of each channel', async () => {
    const heard = async (name: string, body: object) => {
      await receiver(name, body);
      const tested = await call('POST', '/alerts/test', { receiver: name });
      expect(tested.body, name).to.deep.equal({ receiver: name, delivered: true, error: null });
      const { path: at, text } = await hook.next();
      return { path: at, body: JSON.parse(text) as Record<string, unknown> };
    };
    const url = hook.url('/x?key=1');
    const words = /\[test\] message: test\nThis is a test/;
    const slack = await heard('slack', { channel: 'slack', url });
    expect(slack.body['text']).to.match(words);
    const feishu = await heard('feishu', { channel: 'feishu', url, secret: 's' });
    const { timestamp, sign, content } = feishu.body as Record<string, string>;
    expect(sign).to.equal(createHmac('sha256', `${timestamp}\ns`).digest('base64'));
    expect((content as unknown as { text: string }).text).to.match(words);
    const dingtalk = await heard('dingtalk', { channel: 'dingtalk', url, secret: 's' });
    const query = new URL(dingtalk.path, 'http://x').searchParams;
    const signed = createHmac('sha256', 's').update(`${query.get('timestamp')}\ns`);
    expect(query.get('sign')).to.equal(signed.digest('base64'));
    expect(query.get('key')).to.equal('1');
    const wecom = await heard('wecom', { channel: 'wecom', url });
    expect((wecom.body['text'] as { content: string }).content).to.match(words);
    const template = { to: ['#ops'], message: '{{severity}} {{title}} ({{count}})' };
    const json = await heard('json', { channel: 'json', url, template });
    expect(json.body).to.deep.equal({ to: ['#ops'], message: 'info [test] message: test (1)' });
    const plain = await heard('plain', { channel: 'json', url });
    expect(plain.body['text']).to.match(words);
  });

  it('mails all addresses of a receiver at once', async () => {
    await receiver('night', { channel: 'mail', to: ['ann@example.com', 'bob@example.com'] });
    const { body } = await call('POST', '/alerts/test', { receiver: 'night' });
    expect(body).to.deep.equal({ receiver: 'night', delivered: true, error: null });
    const { from, to, text } = await mail.next();
    expect([from, to]).to.deep.equal(['soda@example.com', ['ann@example.com', 'bob@example.com']]);
    expect(text).to.match(/^Subject: Soda Scheduler \[test\] message: test\r$/m);
    expect(text).to.match(/^This is a test of the receiver: nothing is wrong\.\r$/m);
  });

  it('says why a receiver has not taken a test, whatever its status', async () => {
    const test = async (channel: string, answer: typeof hook.answer) => {
      hook.answer = answer;
      await receiver('a', { channel, url: hook.url('/') });
      const { body } = await call('POST', '/alerts/test', { receiver: 'a' });
      await hook.next();
      return body['error'];
    };
    expect(await test('slack', { status: 403, text: 'no_team' })).to.equal('HTTP 403: no_team');
    const refused = '{"errcode":310000,"errmsg":"sign not match"}';
    expect(await test('dingtalk', { status: 200, text: refused })).to.equal(refused);
    const fine = '{"StatusCode":0,"code":0}';
    expect(await test('feishu', { status: 200, text: fine })).to.equal(null);
    expect((await call('POST', '/alerts/test', { receiver: 'b' })).status).to.equal(404);
  });

  it('shows within a scope what is in it, and lets others operate', async () => {
    await call('PUT', '/namespace/live', {});
    await call('POST', '/ns/live/alert', { message: 'seen by those of live' });
    const seen = async (token: string) => (await listed('', token)).map(({ message }) => message);
    const live = await tokenOf('live', 'read', { namespaces: ['live'] });
    expect(await seen(live)).to.deep.equal(['seen by those of live']);
    const news = await tokenOf('news', 'read', { namespaces: ['live'], groups: ['news'] });
    expect(await seen(news)).to.deep.equal([]);
    const [one] = await listed('?namespace=live');
    const silence = (token: string) =>
      call('POST', `/alert/${one?.id}/silence`, { until: null }, token);
    const other = await tokenOf('other', 'operate', { namespaces: ['default'] });
    expect((await silence(other)).status).to.equal(404);
    expect((await silence(live)).status).to.equal(403);
    expect((await call('GET', '/alert-rules', undefined, live)).status).to.equal(403);
    await receiver('ops', { channel: 'webhook', url: hook.url('/hook') });
    hook.answer = { status: 403, text: 'ops@intern.example is away' };
    await call('POST', '/ns/live/alert', { message: 'told to those who are set' });
    await hook.next();
    const told = async (token: string) =>
      (await listed('', token))
        .find(({ message }) => message.startsWith('told'))
        ?.deliveries.map((to) => to.receiver);
    const desk = await tokenOf('desk', 'submit');
    expect([await told(await tokenOf('ann', 'operate')), await told(desk)]).to.deep.equal([
      ['ops'],
      [],
    ]);
    expect(await told(live)).to.deep.equal([]);
    const cms = await tokenOf('cms', 'submit', { namespaces: ['live'] });
    const say = (route: string) => call('POST', route, { message: 'from cms' }, cms);
    expect((await say('/ns/live/alert')).status).to.equal(200);
    expect((await say('/alert')).status).to.equal(403);
    expect((await call('PUT', '/alert-rule/disk', { kind: 'disk' }, cms)).status).to.equal(403);
  });
});
