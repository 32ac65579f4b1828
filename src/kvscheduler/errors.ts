import { defineError } from '#infra/errors/errors.ts';

export const ErrClosedScheduler = defineError({
  name: 'ErrClosedScheduler',
  code: 'CV_SCHED_CLOSED',
  remedy: 'The agent is shutting down; repeat the request against the next one.',
});

export const ErrTxnQueueFull = defineError({
  name: 'ErrTxnQueueFull',
  code: 'CV_SCHED_QUEUE_FULL',
  remedy: 'Repeat later; if it stays full, look for a slow southbound in /scheduler/txn-history.',
});

export const ErrInvalidTransaction = defineError({
  name: 'ErrInvalidTransaction',
  code: 'CV_SCHED_INVALID_TXN',
  remedy: 'Nothing was run; the text says which part of the request makes no sense.',
});

export const ErrDescriptorExists = defineError({
  name: 'ErrDescriptorExists',
  code: 'CV_SCHED_DESCRIPTOR_EXISTS',
  remedy: 'Give every descriptor a name of its own; this is a mistake in the code.',
});

export const ErrTwoDescriptors = defineError({
  name: 'ErrTwoDescriptors',
  code: 'CV_SCHED_TWO_DESCRIPTORS',
  remedy: 'Tell the key prefixes of the two descriptors apart, or give them `ownsKey`.',
});

export const ErrRetrieveCycle = defineError({
  name: 'ErrRetrieveCycle',
  code: 'CV_SCHED_RETRIEVE_CYCLE',
  remedy: 'Remove one of the `retrieveDependencies`; this is a mistake in the code.',
});

export const ErrDescriptorBroken = defineError({
  name: 'ErrDescriptorBroken',
  code: 'CV_SCHED_DESCRIPTOR_BROKEN',
  remedy: 'The descriptor threw where it may not; the value is skipped. Report it as a bug.',
});

export const ErrUnimplementedOperation = defineError({
  name: 'ErrUnimplementedOperation',
  code: 'CV_SCHED_UNIMPLEMENTED_OP',
  remedy: 'The descriptor of this key cannot do that; the value cannot be managed from outside.',
});

export const ErrUnimplementedValue = defineError({
  name: 'ErrUnimplementedValue',
  code: 'CV_SCHED_UNIMPLEMENTED',
  remedy: 'No descriptor owns this key; see /scheduler/dump for the key prefixes that are known.',
});

export const ErrUnmetDependency = defineError({
  name: 'ErrUnmetDependency',
  code: 'CV_SCHED_UNMET_DEPENDENCY',
  remedy: 'Configure what the text names first, or in the same transaction.',
});

export const ErrDerivedKey = defineError({
  name: 'ErrDerivedKey',
  code: 'CV_SCHED_DERIVED_KEY',
  remedy: 'This key belongs to a value that is derived from another; change that one.',
});

export const ErrUndeclaredRead = defineError({
  name: 'ErrUndeclaredRead',
  code: 'CV_SCHED_UNDECLARED_READ',
  remedy: 'Declare a dependency on what is read; this is a mistake in the descriptor.',
});

export const ErrNoMetadata = defineError({
  name: 'ErrNoMetadata',
  code: 'CV_SCHED_NO_METADATA',
  remedy: 'The value that was asked for is not configured or has no metadata.',
});

export const ErrUnknownOutcome = defineError({
  name: 'ErrUnknownOutcome',
  code: 'CV_SCHED_UNKNOWN_OUTCOME',
  remedy: 'Nothing is done to this value until it was read back: look at the southbound.',
});

export const ErrNoRetrieve = defineError({
  name: 'ErrNoRetrieve',
  code: 'CV_SCHED_NO_RETRIEVE',
  remedy: 'This descriptor cannot read the southbound; ask for the view NB or cached.',
});

export const ErrUnknownDescriptor = defineError({
  name: 'ErrUnknownDescriptor',
  code: 'CV_SCHED_UNKNOWN_DESCRIPTOR',
  remedy: 'Ask /scheduler/dump without arguments for the names that are known.',
});
