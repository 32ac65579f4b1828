import { defineError } from '#infra/errors/errors.ts';

/** The reply to an operation is missing: it is unknown whether the operation took place. */
export const TimeoutError = defineError({
  name: 'TimeoutError',
  code: 'CV_TEST_TIMEOUT',
  outcome: 'unknown',
  remedy: '',
});
