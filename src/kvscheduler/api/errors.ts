import { defineError } from '#infra/errors/errors.ts';

export const ClosedSchedulerError = defineError({
  name: 'ClosedSchedulerError',
  code: 'CV_SCHED_CLOSED',
  remedy: 'The agent is shutting down; repeat the request against the next one.',
});

export const TransactionQueueFullError = defineError({
  name: 'TransactionQueueFullError',
  code: 'CV_SCHED_QUEUE_FULL',
  remedy: 'Repeat later; if it stays full, look for a slow southbound in /scheduler/txn-history.',
});

export const InvalidTransactionError = defineError({
  name: 'InvalidTransactionError',
  code: 'CV_SCHED_INVALID_TXN',
  remedy: 'Nothing was run; the text says which part of the request makes no sense.',
});

export const DescriptorExistsError = defineError({
  name: 'DescriptorExistsError',
  code: 'CV_SCHED_DESCRIPTOR_EXISTS',
  remedy: 'Give every descriptor a name of its own; this is a mistake in the code.',
});

export const DescriptorOverlapError = defineError({
  name: 'DescriptorOverlapError',
  code: 'CV_SCHED_TWO_DESCRIPTORS',
  remedy: 'Tell the key prefixes of the two descriptors apart, or give them `ownsKey`.',
});

export const RetrieveCycleError = defineError({
  name: 'RetrieveCycleError',
  code: 'CV_SCHED_RETRIEVE_CYCLE',
  remedy: 'Remove one of the `retrieveDependencies`; this is a mistake in the code.',
});

export const DescriptorContractError = defineError({
  name: 'DescriptorContractError',
  code: 'CV_SCHED_DESCRIPTOR_BROKEN',
  remedy: 'The descriptor threw where it may not; the value is skipped. Report it as a bug.',
});

export const UnimplementedOperationError = defineError({
  name: 'UnimplementedOperationError',
  code: 'CV_SCHED_UNIMPLEMENTED_OP',
  isRetriable: false,
  remedy: 'The descriptor of this key cannot do that; the value cannot be managed from outside.',
});

export const UnimplementedValueError = defineError({
  name: 'UnimplementedValueError',
  code: 'CV_SCHED_UNIMPLEMENTED',
  remedy: 'No descriptor owns this key; see /scheduler/dump for the key prefixes that are known.',
});

export const UnmetDependencyError = defineError({
  name: 'UnmetDependencyError',
  code: 'CV_SCHED_UNMET_DEPENDENCY',
  remedy: 'Configure what the text names first, or in the same transaction.',
});

export const DerivedKeyError = defineError({
  name: 'DerivedKeyError',
  code: 'CV_SCHED_DERIVED_KEY',
  remedy: 'This key belongs to a value that is derived from another; change that one.',
});

export const UndeclaredReadError = defineError({
  name: 'UndeclaredReadError',
  code: 'CV_SCHED_UNDECLARED_READ',
  remedy: 'Declare a dependency on what is read; this is a mistake in the descriptor.',
});

export const NoMetadataError = defineError({
  name: 'NoMetadataError',
  code: 'CV_SCHED_NO_METADATA',
  remedy: 'The value that was asked for is not configured or has no metadata.',
});

export const UnknownOutcomeError = defineError({
  name: 'UnknownOutcomeError',
  code: 'CV_SCHED_UNKNOWN_OUTCOME',
  remedy: 'Nothing is done to this value until it was read back: look at the southbound.',
});

export const NoRetrieveError = defineError({
  name: 'NoRetrieveError',
  code: 'CV_SCHED_NO_RETRIEVE',
  remedy: 'This descriptor cannot read the southbound; ask for the view NB or cached.',
});

export const UnknownDescriptorError = defineError({
  name: 'UnknownDescriptorError',
  code: 'CV_SCHED_UNKNOWN_DESCRIPTOR',
  remedy: 'Ask /scheduler/dump without arguments for the names that are known.',
});
