/** States of values in words: REST names them as the scheduler does. */

interface StateText {
  /** Absent: the state itself. */
  readonly word?: string;
  readonly meaning: string;
}

const texts: Readonly<Record<string, StateText>> = {
  CONFIGURED: { meaning: 'It is in VPP or Linux as desired.' },
  OBTAINED: {
    word: 'UNMANAGED',
    meaning: 'It exists and was not made by this agent, which does not change it (OBTAINED).',
  },
  DISCOVERED: {
    word: 'STALE',
    meaning: 'It exists, is managed and no longer desired: it is being deleted (DISCOVERED).',
  },
  PENDING: { meaning: 'It waits for other values that it needs.' },
  RETRYING: { meaning: 'The last operation failed and is repeated.' },
  FAILED: { meaning: 'The last operation failed. The next resync tries again.' },
  INVALID: { meaning: 'It was rejected, and waits for a change.' },
  MISSING: { meaning: 'It was configured, and VPP or Linux has lost it. It is created again.' },
  UNIMPLEMENTED: { meaning: 'This agent configures nothing of this kind.' },
  REMOVED: { meaning: 'It was deleted.' },
  NONEXISTENT: { meaning: 'It does not exist.' },
};

export function stateWord(state: string): string {
  return texts[state]?.word ?? state;
}

/** @returns undefined for a state that another version of the agent sent */
export function stateMeaning(state: string): string | undefined {
  return texts[state]?.meaning;
}
