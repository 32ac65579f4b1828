import { defineError } from '#infra/errors/errors.ts';

export const ClosedSchedulerError = defineError({
  name: 'ClosedSchedulerError',
  code: 'CV_SCHED_CLOSED',
  isRetriable: true,
  remedy: 'The agent is shutting down. Repeat the request after its restart.',
});

export const TransactionQueueFullError = defineError({
  name: 'TransactionQueueFullError',
  code: 'CV_SCHED_QUEUE_FULL',
  status: 503,
  isRetriable: true,
  remedy:
    'Repeat the request later. If the queue stays full, look for slow operations in GET /scheduler/txn-history.',
});

export const NoDesiredStateError = defineError({
  name: 'NoDesiredStateError',
  code: 'CV_SCHED_NO_DESIRED_STATE',
  status: 409,
  isRetriable: true,
  remedy:
    'Repeat the request when the first resync is done. GET /readiness says what it waits for.',
});

export const SchedulerDeadlockError = defineError({
  name: 'SchedulerDeadlockError',
  code: 'CV_SCHED_DEADLOCK',
  isRetriable: false,
  remedy:
    'This is a defect of the descriptor: it must report changes with pushNotification and must not wait for a transaction.',
});

export const InvalidTransactionError = defineError({
  name: 'InvalidTransactionError',
  code: 'CV_SCHED_INVALID_TXN',
  status: 400,
  remedy:
    'The transaction was not executed. Correct the part of the request that the message names.',
});

export const DescriptorExistsError = defineError({
  name: 'DescriptorExistsError',
  code: 'CV_SCHED_DESCRIPTOR_EXISTS',
  remedy: 'Give each descriptor a unique name. This is a bug: report it.',
});

export const DescriptorOverlapError = defineError({
  name: 'DescriptorOverlapError',
  code: 'CV_SCHED_TWO_DESCRIPTORS',
  remedy: 'Give the two descriptors different key prefixes, or implement `ownsKey`.',
});

export const RetrieveCycleError = defineError({
  name: 'RetrieveCycleError',
  code: 'CV_SCHED_RETRIEVE_CYCLE',
  remedy: 'Remove one of the `retrieveDependencies`. This is a bug: report it.',
});

export const DescriptorContractError = defineError({
  name: 'DescriptorContractError',
  code: 'CV_SCHED_DESCRIPTOR_BROKEN',
  remedy:
    'A descriptor function threw an unexpected error; the value is skipped. This is a bug: report it.',
});

export const UnimplementedOperationError = defineError({
  name: 'UnimplementedOperationError',
  code: 'CV_SCHED_UNIMPLEMENTED_OP',
  isRetriable: false,
  remedy:
    'The descriptor of this key does not implement the operation. Remove the value from the configuration.',
});

export const UnimplementedValueError = defineError({
  name: 'UnimplementedValueError',
  code: 'CV_SCHED_UNIMPLEMENTED',
  remedy: 'No descriptor owns this key. GET /scheduler/dump lists the supported key prefixes.',
});

export const UnmetDependencyError = defineError({
  name: 'UnmetDependencyError',
  code: 'CV_SCHED_UNMET_DEPENDENCY',
  remedy: 'Configure the dependencies that the message names, before or in the same transaction.',
});

export const DerivedKeyError = defineError({
  name: 'DerivedKeyError',
  code: 'CV_SCHED_DERIVED_KEY',
  remedy: 'The value of this key is derived from another value. Change that value instead.',
});

export const UndeclaredReadError = defineError({
  name: 'UndeclaredReadError',
  code: 'CV_SCHED_UNDECLARED_READ',
  remedy:
    'The descriptor must declare a dependency on the key that it reads. This is a bug: report it.',
});

export const NoMetadataError = defineError({
  name: 'NoMetadataError',
  code: 'CV_SCHED_NO_METADATA',
  remedy:
    'The value is not configured or has no metadata. Check its state with GET /scheduler/status.',
});

export const UnknownOutcomeError = defineError({
  name: 'UnknownOutcomeError',
  code: 'CV_SCHED_UNKNOWN_OUTCOME',
  remedy:
    'The value is not changed until it can be read back. Check the connection to VPP or Linux.',
});

export const NoRetrieveError = defineError({
  name: 'NoRetrieveError',
  code: 'CV_SCHED_NO_RETRIEVE',
  remedy: 'This descriptor cannot read the southbound. Use view=NB or view=cached.',
});

export const UnknownDescriptorError = defineError({
  name: 'UnknownDescriptorError',
  code: 'CV_SCHED_UNKNOWN_DESCRIPTOR',
  status: 404,
  remedy: 'GET /scheduler/dump without arguments lists the descriptors.',
});
