/** Calendars as people keep them in the console, for `browser.test.ts`. */
import { expect } from 'chai';
import type { Console } from './console.ts';

const ICS = `BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:1
DTSTART;VALUE=DATE:20261001
DTEND;VALUE=DATE:20261004
SUMMARY:National Day
END:VEVENT
END:VCALENDAR
`;

/** @param hostile what would do harm if it were not only shown. */
export function itKeepsCalendars(of: () => Console, hostile: string): void {
  const dialog = () => of().page.getByRole('dialog');
  const closed = () => dialog().waitFor({ state: 'detached' });

  it('imports a calendar from a file, and changes days where they stand', async () => {
    const { page, go, api, browser } = of();
    await go('#/calendars');
    await page.getByText('There is no calendar yet').waitFor();
    const file = { name: 'china.ics', mimeType: 'text/calendar', buffer: Buffer.from(ICS) };
    await page.locator('input[type=file]').setInputFiles(file);
    await dialog().getByText('An iCalendar file with 1 event.').waitFor();
    await dialog().getByRole('button', { name: 'Import' }).click();
    await page.getByRole('heading', { name: 'china', exact: true }).waitFor();
    await go('#/calendar/china?year=2026');
    await page.getByRole('button', { name: '1 Oct 2026 · Off · National Day' }).waitFor();

    await page.getByRole('button', { name: /^10 Oct 2026/ }).click();
    await dialog().locator('[name=kind]').selectOption('work');
    await dialog().locator('[name=to]').fill('2026-10-09');
    await dialog().getByRole('button', { name: 'Change' }).click();
    await dialog()
      .getByText(/Expected a day as 2026-10-08, from 2026-10-10/)
      .waitFor();
    await dialog().locator('[name=to]').fill('');
    await dialog().locator('[name=label]').fill(hostile.slice(0, 40));
    await dialog().getByRole('button', { name: 'Change' }).click();
    await closed();
    const made = page.getByRole('button', { name: /^10 Oct 2026 · A working day, although/ });
    await made.waitFor();
    expect((await made.boundingBox())?.height).to.be.below(40);
    await made.focus();
    await page.keyboard.press('ArrowDown');
    const focused = await page.evaluate('document.activeElement.dataset.date');
    expect(focused).to.equal('2026-10-17');
    await browser.expectAccessible('a calendar');
    const { days } = (await api('GET', '/calendar/china')) as { days: { date: string }[] };
    expect(days).to.have.length(4);
    expect(days.at(-1)).to.include({ date: '2026-10-10', kind: 'work' });
  });

  it('sets black-outs for all jobs, and ends one', async () => {
    const { page, go, api } = of();
    await go('#/blackouts');
    await page.getByRole('button', { name: 'New black-out' }).click();
    await dialog().locator('[name=from]').fill('2030-11-11T00:00');
    await dialog().locator('[name=to]').fill('2030-11-12T00:00');
    await dialog().locator('[name=reason]').fill(hostile);
    await dialog().getByRole('button', { name: 'New black-out' }).click();
    await closed();
    const row = page.getByRole('row').filter({ hasText: '<img src=x' });
    await row.getByRole('button', { name: 'Delete' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect((await api('GET', '/blackouts'))['blackouts']).to.deep.equal([]);
  });
}
