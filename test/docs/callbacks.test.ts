/** The signatures that the page gives receivers to hold their code against are those of a master. */
import { expect } from 'chai';
import { CallbackSigner } from '../../master/infrastructure/callbacks/callback-message.ts';
import { blocksOf } from './document.ts';

describe('the page about callbacks', () => {
  it('shows the header that a master sends while its secret is replaced', () => {
    const blocks = blocksOf('docs/callbacks.md');
    const at = blocks.findIndex(({ argument }) => argument === 'vector.mjs');
    const code = blocks[at]?.code ?? '';
    const constant = (name: string) => new RegExp(`const ${name} = '(.*)'`).exec(code)?.[1] ?? '';
    const signer = new CallbackSigner(code.match(/whsec_[\w+/]{20,}=*/g) ?? []);
    const sentAt = Number(constant('timestamp')) * 1000;
    const headers = signer.headers(constant('id'), sentAt, constant('body'));
    expect(blocks[at + 2]?.code).to.equal(`webhook-signature: ${headers['webhook-signature']}\n`);
  });
});
