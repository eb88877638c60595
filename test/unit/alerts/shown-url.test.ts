/** What is shown of the URL of a receiver: the rest of it is a secret. */
import { expect } from 'chai';
import { shownUrl } from '../../../master/domain/alerts/rule.ts';

describe('the URL of a receiver', () => {
  it('is shown without what the receiver knows the sender by, however it is written', () => {
    expect(shownUrl('https://hooks.example.com:8443/services/KEY?k=KEY')).to.equal(
      'https://hooks.example.com:8443/***',
    );
    for (const url of [
      String.raw`https://hooks.example.com\services\KEY`,
      'https://KEY:KEY@hooks.example.com/services',
      'https://hooks.example.com\t/services/KEY',
      'https://hooks.example.com#KEY',
    ]) {
      expect(new URL(url).hostname, url).to.equal('hooks.example.com');
      expect(shownUrl(url)).to.equal('https://hooks.example.com/***');
    }
  });
});
