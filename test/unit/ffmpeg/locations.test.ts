/** What inputs and outputs may be called, wherever they lie. */
import { expect } from 'chai';
import { inputLocation, outputLocation } from '../../../examples/storage/locations.ts';

describe('the name of an input', () => {
  it('climbs nowhere', () => {
    for (const odd of [
      's3://films/../a',
      's3://films/',
      's3:///a',
      's3://films/\ud800',
      'ftp://a/b',
      'file:///a',
      'concat:a',
    ]) {
      expect(inputLocation.safeParse(odd).success, odd).to.equal(false);
    }
  });

  it('is no URL from which characters would be dropped', () => {
    for (const odd of ['http://h/a\r\nb', 'http://h/\ta', 'https://h/a\n', 'http://h/a\u0000']) {
      for (const location of [odd, { resolve: odd }]) {
        const said = JSON.stringify(inputLocation.safeParse(location).error?.issues ?? null);
        expect(said).to.include('expected a URL without control characters');
      }
    }
  });
});

describe('the name of an output', () => {
  it('reads as no other one, and can be written down', () => {
    for (const odd of ['\u202egpj.mp4', 'a\u2066b.mp4', 'a\u200fb.mp4', 'a\u2028b.mp4', '\ud800']) {
      for (const place of [odd, `s3://films/${odd}`]) {
        expect(outputLocation.safeParse(place).success, JSON.stringify(place)).to.equal(false);
      }
    }
    for (const good of ['کتاب\u200cها.mp4', '👩‍👧.mp4', 'é à.mp4']) {
      expect(outputLocation.safeParse(good).success, good).to.equal(true);
    }
  });
});
