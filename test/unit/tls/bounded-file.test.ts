/** Reading a file that may not answer. */
import { expect } from 'chai';
import { BoundedFile, type Content } from '../../../master/infrastructure/bounded-file.ts';

describe('a file that may not answer', () => {
  it('is given up in time, asked once only while it hangs, and read again once it answers', async () => {
    const content: Content = { bytes: Buffer.from('pem'), mode: 0o600 };
    const asked: ((content: Content) => void)[] = [];
    const read = () => new Promise<Content>((resolve) => void asked.push(resolve));
    const file = new BoundedFile('unused', { read, limitMs: 1 });
    const given = () =>
      file.read().then(
        () => '',
        ({ message }: Error) => message,
      );
    expect(await given()).to.equal('no answer within 0.001 s');
    expect(await given()).to.equal('no answer within 0.001 s');
    expect(asked).to.have.length(1);

    const answer = file.read();
    asked[0]?.(content);
    expect(await answer).to.equal(content);
    const next = file.read();
    expect(asked).to.have.length(2);
    asked[1]?.(content);
    expect(await next).to.equal(content);
  });
});
