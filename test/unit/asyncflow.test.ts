/** Asyncflow's numbers for the states of a task. */
import { asyncflowStatus, taskStates } from '@soda-scheduler/protocol';
import { expect } from 'chai';

describe("Asyncflow's status", () => {
  it('has a number for every state: 3 is success, 4 is every other end', () => {
    const numbers = Object.fromEntries(taskStates.map((state) => [state, asyncflowStatus(state)]));
    expect(numbers).to.deep.equal({
      waiting: 1,
      held: 1,
      suspended: 1,
      offered: 2,
      running: 2,
      succeeded: 3,
      failed: 4,
      canceled: 4,
      expired: 4,
    });
  });
});
