import { parentPort, workerData } from 'node:worker_threads'
import { generateOpenApi } from '../api/openapi.ts'
import type { AboutServer, ApiDocuments } from './documents.ts'
import { referencePage } from './reference.ts'

const about: AboutServer = workerData
const document = await generateOpenApi(about.baseUrl)
parentPort?.postMessage({
  openApi: JSON.stringify(document),
  reference: referencePage(document, about),
} satisfies ApiDocuments)
