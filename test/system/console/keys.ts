/** The console by the keyboard alone, for `browser.test.ts`: where the focus goes, and that it comes back. */
import { expect } from 'chai';
import type { Console } from './console.ts';

export function itGoesByKeys(of: () => Console): void {
  const focused = () =>
    of().page.evaluate<string>(
      `(document.activeElement.id || document.activeElement.innerText || document.activeElement.tagName).trim()`,
    );
  const press = async (...keys: string[]) => {
    for (const key of keys) await of().page.keyboard.press(key);
  };

  it('goes by the keyboard alone, which is where one is and comes back to where it was', async () => {
    const { page, go } = of();
    const dialog = page.getByRole('dialog');
    await go('#/executors');
    await page.getByRole('link', { name: 'gpu-1' }).focus();
    await press('Enter');
    await page.getByRole('heading', { name: 'gpu-1' }).waitFor();
    // The next key is one of the page, and a reader of screens begins there.
    expect(await focused()).to.equal('main');
    await page.getByRole('button', { name: 'Drain' }).waitFor();
    await press('Tab');
    expect(await focused()).to.equal('Bookings');
    await press('Tab');
    expect(await focused()).to.equal('Drain');
    for (const leave of ['Escape', 'Enter']) {
      await press('Enter');
      await dialog.waitFor();
      if (leave === 'Enter') await dialog.getByRole('button', { name: 'Leave it' }).focus();
      await press(leave);
      await dialog.waitFor({ state: 'detached' });
      expect(await focused(), leave).to.equal('Drain');
    }
    // Whoever is quick asks again before the browser has said that the first one is closed.
    await press('Enter');
    await dialog.waitFor();
    await page.evaluate(`document.querySelector('dialog').close(), document.activeElement.click()`);
    await dialog.waitFor();
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await press('/');
    await page.keyboard.type('gpu-1');
    await page.getByRole('search').getByRole('link', { name: 'gpu-1' }).waitFor();
    await press('ArrowDown');
    expect(await focused()).to.match(/gpu-1$/);
    await press('ArrowUp');
    expect(await focused()).to.equal('search');
    await press('ArrowDown', 'Escape');
    expect(await focused()).to.equal('Drain');
    await press('?');
    await dialog.waitFor();
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused()).to.equal('Drain');
  });
}
