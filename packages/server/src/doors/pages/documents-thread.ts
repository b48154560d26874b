import { parentPort, workerData } from 'node:worker_threads'
import { generateOpenApi } from '../api/openapi.ts'
import type { ApiDocuments } from './documents.ts'
import { referencePage } from './reference.ts'

const document = await generateOpenApi(workerData.baseUrl)
parentPort?.postMessage({
  openApi: JSON.stringify(document),
  reference: referencePage(document),
} satisfies ApiDocuments)
