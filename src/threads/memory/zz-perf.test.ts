import { test } from 'vitest'
import { createMemoryStore } from '../memory.js'
test('perf', async () => {
  const s = createMemoryStore(); const key={app:'a',user:'u',agent:'g',thread:'t'}
  const l = await s.leases.acquire(key,{owner:'o',ttlMs:1e9}); if(!l) return
  const base={state:{},interrupts:[],pendingToolCalls:[]}
  const t0=performance.now()
  for(let i=0;i<10000;i++) await s.threads.commit(l,{...base,version:i,keep:i,append:[{id:String(i),role:'user',content:'x'}]})
  console.log('10k commits growing to 10k messages ms', performance.now()-t0)
  const t1=performance.now(); for(let i=0;i<10000;i++) await s.threads.load(key); console.log('10k loads ms',performance.now()-t1)
})
