export const REFERENCE_SCRIPT = '/reference.js'

/** Finds operations by any word on them. The page is whole without it. */
export const referenceScript = `
const field = document.querySelector('#find')
const status = document.querySelector('#found')
const links = [...document.querySelectorAll('nav a')]
const operations = links.map((link) => {
  const section = document.getElementById(decodeURIComponent(link.hash.slice(1)))
  return { link, section, name: link.textContent.toLowerCase(), text: section.textContent.toLowerCase() }
})

function find() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean)
  let found = 0
  for (const { link, section, name, text } of operations) {
    const matches = words.every((word) => name.includes(word) || text.includes(word))
    section.hidden = link.parentElement.hidden = !matches
    if (matches) found += 1
  }
  for (const family of document.querySelectorAll('[data-family]'))
    family.hidden = !family.querySelector(family.localName === 'div' ? 'li:not([hidden])' : 'section:not([hidden])')
  status.textContent = words.length ? (found === 1 ? '1 operation' : found + ' operations') : ''
}

const shown = () => links.filter((link) => !link.parentElement.hidden)
/** Those whose name has the words come before those that only speak of them. */
const best = () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean)
  const visible = shown()
  return visible.find((link) => words.every((word) => link.textContent.toLowerCase().includes(word))) || visible[0]
}

document.querySelector('search').hidden = false
field.addEventListener('input', find)
field.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') best()?.click()
  else if (event.key === 'ArrowDown') shown()[0]?.focus()
  else if (event.key === 'Escape') { field.value = ''; find() }
  else return
  event.preventDefault()
  // Where it leads to has keys of its own.
  event.stopPropagation()
})
document.addEventListener('keydown', (event) => {
  const at = shown().indexOf(document.activeElement)
  if (event.key === '/' && document.activeElement !== field && !event.ctrlKey && !event.metaKey) field.focus()
  else if (at >= 0 && event.key === 'ArrowDown') shown()[at + 1]?.focus()
  else if (at >= 0 && event.key === 'ArrowUp') (shown()[at - 1] || field).focus()
  else return
  event.preventDefault()
})
if (field.value) find()
`
