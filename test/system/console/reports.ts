/** Part of `browser.test.ts`, in its browser and on its master: what is drawn and reported, and what a page is made of. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import type { LoadPoint } from '@soda-scheduler/protocol';
import type { Page } from 'playwright-core';
import { eventually } from '../../helpers/system/wait.ts';
import type { Console } from './console.ts';

interface LoadedFile {
  readonly name: string;
  /** As it was sent. */
  readonly bytes: number;
}

export async function filesOf(page: Page): Promise<readonly LoadedFile[]> {
  const told = await page.evaluate(
    'performance.getEntries().map(({ name, encodedBodySize: bytes = 0 }) => ({ name, bytes }))',
  );
  return (told as LoadedFile[]).filter(({ name }) => /\/(assets\/[\w.-]+)?(#.*)?$/.test(name));
}

/** Of a chart of a day. */
const STEP_MS = 15 * 60_000;

function sumsOf(points: readonly LoadPoint[]) {
  const sumOf = (name: 'failed' | 'canceled') =>
    points.reduce((sum, { [name]: count }) => sum + count, 0);
  return { failed: sumOf('failed'), canceled: sumOf('canceled') };
}

/** @param console once the tests run. */
export function describeReports(console: () => Console): void {
  it('draws how busy it was, as the API says it, and tells the numbers to whoever cannot see them', async () => {
    const { browser, page, go, says, api } = console();
    await go('#/overview?over=day');
    const chart = page.getByRole('figure').filter({ hasText: 'Ended' });
    await chart.locator('canvas').waitFor();
    // It is drawn anew each half a minute, and each minute there is more of it.
    const last = await eventually('the chart says what the API does', async () => {
      const { points } = (await api('GET', '/reports/load')) as { points: LoadPoint[] };
      const sums = sumsOf(points);
      const said = await chart.innerText();
      const isSaid = [`Failed ${sums.failed}`, `Cancelled ${sums.canceled}`].every((text) =>
        said.includes(text),
      );
      const stepAt = ({ at }: LoadPoint) => Math.floor(Date.parse(at) / STEP_MS);
      const newest = points.at(-1);
      if (!isSaid || newest === undefined || Math.min(sums.failed, sums.canceled) < 1) return null;
      const last = points.filter((one) => stepAt(one) === stepAt(newest));
      return sumsOf(last);
    });
    const depth = page.getByRole('figure').filter({ hasText: 'Waiting and running' });
    expect(await depth.locator('figcaption').innerText())
      .to.match(/\d\d:\d\d – \d\d:\d\d, looked at once a minute/)
      .and.not.match(/\d\.\d|now/);
    const plot = chart.getByRole('slider');
    await plot.focus();
    await page.keyboard.press('End');
    // A text for the page to run is what its policy forbids.
    await eventually('the last step is told', async () =>
      (await plot.getAttribute('aria-valuetext'))?.includes(`Failed ${last.failed}`),
    );
    await plot.hover({ position: { x: 80, y: 60 } });
    await chart.getByText('Failed –').waitFor();
    await browser.expectAccessible('charts');
    await chart.getByRole('button', { name: 'Table' }).click();
    await chart
      .getByRole('cell', { name: String(last.canceled), exact: true })
      .first()
      .waitFor();
    await go('#/type/work');
    await says('Start delay');
    await browser.expectAccessible('charts of a type');
  });

  it('reports who has used how much, as the API says it, and as a file', async () => {
    const { page, go, says, api } = console();
    await go('#/overview');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    const { total } = (await api('GET', '/reports/usage')) as { total: Record<string, number> };
    await page
      .locator('.figures')
      .getByText(String(total['submitted']), { exact: true })
      .first()
      .waitFor();
    await page.getByRole('link', { name: '30 days' }).click();
    await page.getByRole('checkbox', { name: 'Project' }).check();
    await page.getByRole('checkbox', { name: 'Group' }).uncheck();
    await page
      .getByRole('cell', { name: /<img src=x/ })
      .first()
      .waitFor();
    expect(new URL(page.url()).hash)
      .to.match(/over=30d/)
      .and.match(/by=project%2Ctype/);
    await page.getByRole('figure').first().locator('canvas').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text).to.match(/^project,type,submitted,succeeded,/);
    await page.getByLabel('Month').selectOption({ index: 2 });
    await says('Nothing was used in these days.');
  });
}
