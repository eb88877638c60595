/** The pages of the documentation in a real browser, as a master serves them: somebody looks for a word, and reads on. */
import { expect } from 'chai';
import type { Console } from './console.ts';

/** As the first that a browser is asked for. */
export function itServesPages(seen: () => Pick<Console, 'system' | 'browser'>): void {
  const field = () => seen().browser.page.getByRole('searchbox');
  const found = () => seen().browser.page.locator('#found');

  it('serves pages that are looked through by the keyboard alone, from the address that people type', async () => {
    const {
      system,
      browser: { page },
    } = seen();
    await page.goto(`${system.url}/docs`);
    await page.waitForURL('**/docs/index.html');
    await page.keyboard.press('/');
    await page.keyboard.type('misfire');
    await found().getByRole('link').first().waitFor();
    expect(await found().getByRole('link').first().innerText()).to.match(/misfire/i);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/[a-z-]+\.html(#.*)?$/);
    await page
      .getByText(/misfire/i)
      .first()
      .waitFor();
    // The field is as it was for whoever has arrived.
    await found().waitFor({ state: 'hidden' });
  });

  it('serves pages that say that nothing has all of these words, and show nothing for none', async () => {
    const { page } = seen().browser;
    await field().fill('misfire zebra');
    await found().getByText('Nothing has all of these words.').waitFor();
    await page.keyboard.press('Escape');
    await found().waitFor({ state: 'hidden' });
  });

  it('serves pages that ask once more for what is searched where it could not be loaded', async () => {
    const { browser } = seen();
    const { page } = browser;
    await page.route('**/search-*.json', (route) => route.abort());
    await page.reload();
    await field().fill('misfire');
    await found().getByText('What is searched could not be loaded.').waitFor();
    await page.unroute('**/search-*.json');
    await field().fill('misfir');
    await found().getByRole('link').first().waitFor();
    await page.keyboard.press('Escape');
    // The browser tells of what did not come.
    browser.complaints.length = 0;
  });

  it('serves pages that are read in both colours, with what was found', async () => {
    const { browser } = seen();
    const { page } = browser;
    const grounds: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await field().fill('retry');
      await found().getByRole('link').first().waitFor();
      await browser.expectAccessible(colorScheme);
      grounds.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      await page.keyboard.press('Escape');
    }
    await page.emulateMedia({ colorScheme: null });
    expect(new Set(grounds).size, grounds.join(' ')).to.equal(2);
  });

  it('serves pages that have asked nobody else, and the browser has nothing to complain about', () => {
    const { system, browser } = seen();
    expect([...browser.requested]).to.deep.equal([system.url]);
    expect(browser.complaints).to.deep.equal([]);
  });
}
