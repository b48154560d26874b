import type { Module } from '../modules.ts'
import { operatorsHandlers } from './handlers.ts'
import { createOperatorsService, type OperatorsDeps } from './service.ts'

export function createOperatorsModule(needs: OperatorsDeps) {
  return {
    services: {},
    handlers: { admin: operatorsHandlers(createOperatorsService(needs)) },
  } satisfies Module
}
