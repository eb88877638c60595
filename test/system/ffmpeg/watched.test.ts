/** What people see of an executor that is killed amid a transcode: which step has failed, its log, and an alert until it is over. */
import type { EventView } from '@soda-scheduler/client';
import type { AlertMessage, LogLine } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HookReceiver, MailReceiver } from '../../helpers/alerts/receivers.ts';
import { FFMPEG_MISSING } from '../../helpers/system/ffmpeg.ts';
import { describeOnEither } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

const PARAMS = {
  input: 'in.mp4',
  outputs: [
    { path: 'out/first.mp4', video: { resolution: '128x72' } },
    { path: 'out/second.mp4', video: { resolution: '640x360' } },
  ],
};

describeOnEither('a transcode that is watched', ({ start }) => {
  let media: string;
  let slow: string;
  let hook: HookReceiver;
  let mail: MailReceiver;

  before(async function () {
    if (FFMPEG_MISSING) return this.skip();
    hook = await new HookReceiver().open();
    mail = await new MailReceiver().open();
    media = mkdtempSync(join(tmpdir(), 'soda-system-watched-'));
    mkdirSync(join(media, 'out'));
    const source = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=10:duration=6'];
    const made = ['-c:v', 'libx264', '-preset', 'ultrafast', join(media, 'in.mp4')];
    execFileSync('ffmpeg', ['-nostdin', '-loglevel', 'error', ...source, ...made]);
    // As long as the clip, so that it is seen at work, however fast the machine is.
    slow = join(media, 'ffmpeg');
    writeFileSync(slow, '#!/bin/sh\nexec ffmpeg -re "$@"\n', { mode: 0o755 });
  });
  after(async () => {
    if (!media) return;
    await hook.close();
    await mail.close();
    rmSync(media, { recursive: true, force: true });
  });

  const postedNext = async () => {
    const { alerts } = JSON.parse((await hook.next()).text) as AlertMessage;
    return alerts.map(({ event, rule, subject, id }) => ({ event, rule, subject, id }));
  };

  it('tells of kill -9 which step has failed, the end of its log, and one alert by mail and hook until it is over', async () => {
    const mailing = { SODA_SMTP_URL: mail.url, SODA_MAIL_FROM: 'Soda <soda@example.com>' };
    const system = await start(mailing);
    const { client } = system;
    const { putReceiver, putRule } = client.alerts;
    await putReceiver('ops', { channel: 'webhook', url: hook.url('/ops') });
    await putReceiver('night', { channel: 'mail', to: ['ann@example.com'] });
    // At once: by default it is a minute, and found twice.
    await putRule('no_executor', { kind: 'no_executor', threshold: 1, checks: 1 });
    const executor = await system.ffmpegExecutor('a', media, { FFMPEG: slow });

    const type = 'ffmpeg.transcode';
    const { task_id } = await client.submit({ type, params: PARAMS }, { group: 'tests' });
    const isOver = new AbortController();
    const seen: EventView[] = [];
    const follows = (async () => {
      for await (const event of client.events({ task: task_id }, { signal: isOver.signal })) {
        seen.push(event);
        if (event.kind === 'task.finished') return;
      }
    })();
    const lines: LogLine[] = [];
    const reads = (async () => {
      for await (const line of client.logs(task_id, {}, { follow: true, signal: isOver.signal })) {
        lines.push(line);
      }
    })();
    try {
      const saysOf = (path: string) => lines.some(({ text }) => text === `making ${path}`);
      await eventually('its log tells of the second output', () => saysOf('out/second.mp4'));
      const percent = async () => (await system.task(task_id)).progress?.percent ?? 0;
      await eventually('the second output is being made', async () => (await percent()) > 51);
      await executor.end('SIGKILL');

      const failed = await eventually('the feed tells that the attempt has ended', () =>
        seen.find(({ kind }) => kind === 'task.attempt_ended'),
      );
      expect(failed).to.include({ task_id, type, attempt: 1 });
      expect(failed.data).to.deep.include({ outcome: 'lost' });
      expect(failed.data['percent']).to.be.above(51);
      expect(failed.data['state']).to.include({ output: 2, of: 2, path: 'out/second.mp4' });
      const tail = [];
      for await (const { text } of client.logs(task_id, { attempt: 1 })) tail.push(text);
      expect(tail.at(-2)).to.equal('making out/second.mp4');
      expect(tail.at(-1)).to.match(/^lost: executor .*: its lease ended$/);

      const [raised] = await postedNext();
      expect(raised).to.include({ event: 'raised', rule: 'no_executor', subject: `type ${type}` });
      const listed = [];
      for await (const { id } of client.alerts.list()) listed.push(id);
      expect(listed).to.deep.equal([raised?.id]);

      await system.ffmpegExecutor('b', media);
      expect(await system.ended(task_id)).to.include({ state: 'succeeded', attempt: 2 });
      await Promise.all([follows, reads]);
      // What comes next is the end of the same: it was told once.
      expect(await postedNext()).to.deep.equal([{ ...raised, event: 'cleared' }]);
      const mails = [(await mail.next()).text, (await mail.next()).text];
      expect(mails.map((text) => text.includes(String(raised?.id)))).to.deep.equal([true, true]);
      expect(mails[0]).to.include('[critical] no_executor');
      expect(mails[1]).to.include('[over] no_executor');
      for (const name of ['ops', 'night']) await client.alerts.test(name);
      expect((await postedNext()).map(({ event }) => event)).to.deep.equal(['test']);
      expect((await mail.next()).text).to.include('[test]');
    } finally {
      isOver.abort();
      await Promise.allSettled([follows, reads]);
    }
  });
});
