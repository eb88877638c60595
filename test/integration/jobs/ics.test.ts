/** A calendar that others publish, put as it is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import { API_BASE, type CalendarView } from '@soda-scheduler/protocol';
import { expect } from 'chai';

const ICS = [
  'BEGIN:VCALENDAR',
  'X-WR-CALNAME:Holidays',
  'BEGIN:VEVENT',
  'DTSTART;VALUE=DATE:20261001',
  'DTEND;VALUE=DATE:20261003',
  'SUMMARY:国庆节（休）',
  'END:VEVENT',
  'BEGIN:VEVENT',
  'DTSTART;VALUE=DATE:20261010',
  'SUMMARY:国庆节（班）',
  'END:VEVENT',
  'BEGIN:VEVENT',
  'DTSTART:20261001T090000Z',
  'SUMMARY:休',
  'END:VEVENT',
  'END:VCALENDAR',
].join('\r\n');

describe('an ICS file over HTTP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'soda-ics-'));
  let master: Awaited<ReturnType<typeof runMaster>>;
  before(async () => {
    const outcome = loadConfig({ env: { SODA_PORT: '0', SODA_DATA_DIR: folder }, flags: {} });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('\n'));
    master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
  });
  after(async () => {
    await master.stop();
    rmSync(folder, { recursive: true });
  });
  const put = (body: string, type: string) =>
    fetch(`${master.url}${API_BASE}/calendar/china`, {
      method: 'PUT',
      headers: { 'content-type': type },
      body,
    });

  it('is a calendar, and keeps what it does not say', async () => {
    const weekend = JSON.stringify({ days: [], weekend: [0] });
    expect((await put(weekend, 'application/json')).status).to.equal(201);
    const answer = await put(ICS, 'text/calendar; charset=utf-8');
    expect(answer.status).to.equal(200);
    const view = (await answer.json()) as CalendarView;
    expect(view.days).to.deep.equal([
      { date: '2026-10-01', kind: 'off', label: '国庆节（休）' },
      { date: '2026-10-02', kind: 'off', label: '国庆节（休）' },
      { date: '2026-10-10', kind: 'work', label: '国庆节（班）' },
    ]);
    expect(view.weekend).to.deep.equal([0]);
    expect(view.description).to.equal('Holidays');
    expect(view.warnings[0]).to.equal('left out 1 event of less than whole days');
  });

  it('that is none is refused, and changes nothing', async () => {
    const answer = await put('<html>', 'text/calendar');
    expect(answer.status).to.equal(400);
    expect(await answer.text()).to.contain('expected BEGIN:VCALENDAR first');
    expect((await put(ICS, 'text/plain')).status).to.equal(415);
    expect(await (await put('', 'text/calendar')).text()).to.contain(
      'Expected a text/calendar body.',
    );
  });
});
