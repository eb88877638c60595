/** In which pieces it is written what a look has decided, and who is told of it. */
import { expect } from 'chai';
import { byReceiver, piecesOf } from '../../../master/application/alerts/tell.ts';
import type { Alert } from '../../../master/domain/alerts/alert.ts';
import { plainRule } from '../../../master/domain/alerts/rule.ts';
import { testAlert } from '../../../master/domain/alerts/said.ts';

const alert = (n: number, change: Partial<Alert> = {}): Alert => ({
  ...{ ...testAlert(`al-${n}`, 1), rule: 'disk', kind: 'disk', subject: `${n}` },
  ...change,
});
const told = (alerts: readonly Alert[]) =>
  alerts.map((one) => ({ event: 'raised', alert: one }) as const);

describe('what a look has decided', () => {
  it('is written in pieces, the smaller the more receivers there are, all of it and once', () => {
    const alerts = Array.from({ length: 1_200 }, (_, n) => alert(n));
    const sizes = (receiverCount: number) =>
      [...piecesOf({ alerts, tellings: told(alerts) }, receiverCount)].map(
        (piece) => piece.alerts.length,
      );
    expect(sizes(50)).to.deep.equal(Array.from({ length: 60 }, () => 20));
    expect(sizes(7)).to.deep.equal([140, 140, 140, 140, 140, 140, 140, 140, 80]);
    expect(sizes(0)).to.deep.equal([1_000, 200]);
    const pieces = [...piecesOf({ alerts, tellings: told(alerts) }, 50)];
    expect(pieces.flatMap((piece) => piece.tellings.map((one) => one.alert))).to.deep.equal(alerts);
  });

  it('keeps together what is of one thing, and has what is found before what is said', () => {
    const said = [alert(1, { kind: 'message' }), alert(2, { kind: 'message' })];
    const found = Array.from({ length: 20 }, (_, n) => alert(100 + n));
    const again = alert(200, { subject: '119' });
    const silent = alert(201);
    const alerts = [...said, ...found, again, silent];
    const pieces = [...piecesOf({ alerts, tellings: told([...said, ...found, again]) }, 50)];
    const ids = pieces.map((piece) => piece.alerts.map(({ id }) => id));
    expect(ids).to.deep.equal([[...found, again].map(({ id }) => id), ['al-201', 'al-1', 'al-2']]);
    expect(pieces[1]?.tellings).to.have.length(2);
    expect([...piecesOf({ alerts: [], tellings: [] }, 50)]).to.deep.equal([]);
  });

  it('is told to those whom its rule names, and who are there', () => {
    const rules = [
      { ...plainRule('disk', 'disk'), receivers: ['night', 'gone'] },
      plainRule('poison', 'poison'),
    ];
    const alerts = [alert(1), alert(2, { rule: 'poison' }), alert(3, { rule: 'deleted' })];
    const all = byReceiver(told(alerts), rules, new Set(['ops', 'night']));
    const ids = [...all].map(([name, some]) => [name, some.map((one) => one.alert.id)]);
    expect(ids).to.deep.equal([
      ['night', ['al-1', 'al-2']],
      ['ops', ['al-2']],
    ]);
  });
});
