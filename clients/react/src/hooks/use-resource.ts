import { useSyncExternalStore } from 'react';
import type { Resource, Snapshot } from '../store/resource';

export function useResource<T>(resource: Resource<T>): Snapshot<T> {
  return useSyncExternalStore(resource.subscribe, resource.snapshot, resource.serverSnapshot);
}
