// ee9c30b00d1db8115011794a928c4ed7
"use strict";var guard_rules=require("./guard-rules.cjs");var w=guard_rules,i=guard_rules,h=guard_rules,r=guard_rules,v=guard_rules;var x=guard_rules,l=guard_rules,H=guard_rules;function m(t,e,n=!1){return e.length===0?t.stdin??"":e.map(s=>s==="-"||s==="/dev/stdin"?t.stdin??"":(t.file("read",s,{recursive:n}),/^\/dev\/(zero|u?random)$/.test(s)?l.ENDLESS:t.content(s))).join("")}var S=({words:t})=>{let e=t.filter(n=>!n.startsWith("-"));return e.length===0?r.PRIVATE:e.map(y).join(`
`)};function y(t){return(0,w.isSecretName)(t)?(0,r.secretOf)(t):r.UNKNOWN}var E=({words:t})=>{let e=(0,i.readArgs)(t,{letters:"fs",long:["format","separator"]});if(e.rest.some(o=>/^inf|^\d{10,}$/i.test(o)))return r.ENDLESS;let n=e.value("f","format");if(n!==void 0)return`${n.replace(/%[\d.]*[aefg]/gi,"1")}
`;let s=e.rest.at(-1)??"";return e.rest.length<3&&/^\d{2,}$/.test(s)?`1
${s}
`:`1
`},A=t=>{let e=(0,i.readArgs)(t.words,{letters:"p",long:["tmpdir","suffix"]}),[n]=e.rest;return`${(n?.includes("/")?n:`${e.value("p","tmpdir")??"/tmp"}/${n??"tmp.XXXX"}`).replace(/X{3,}/,"made-by-mktemp")}
`},O=()=>`./${r.UNKNOWN}
`,k=t=>{let e=(0,i.readArgs)(t.words,{letters:"IwT"}),{context:n}=t.shell.world;if(e.has("d","directory"))return`${e.rest.join(`
`)}
`;let s=e.rest.filter(o=>(0,r.hasGlob)(o)||(0,v.isSecretFile)(t.path(o),n,!1));if(s.length>0)return`${s.join(`
`)}
./${r.UNKNOWN}
`;if(e.rest.some(o=>o!==".")){let o=e.rest.flatMap(a=>(0,h.hiddenIn)(t.path(a),n));return`./${r.UNKNOWN}
${(e.has("a","A","all","almost-all")?o:[]).map(a=>`${a}
`).join("")}`}return e.has("a","A","all","almost-all")?`./${r.STAR}
./.${r.STAR}
`:`./${r.STAR}
`},g={letters:"dfr",long:["date","file","reference"]},$=t=>{let e=/^--(arg|argjson|slurpfile|rawfile)$/,n=t.words.filter((c,d,N)=>!e.test(N[d-2]??""));for(let[c,d]of t.words.entries())/^--(slurp|raw)file$/.test(d)&&t.file("read",t.words[c+2]??"");let s=(0,i.readArgs)(n,{letters:"L",long:["arg","argjson","slurpfile","rawfile","indent","from-file"]}),[o="",...a]=s.rest,f=m(t,a),[p]=(0,r.secretsIn)(t.words.join(" "));if(p!==void 0&&o.includes("$"))return(0,r.secretOf)(p);if(/^\s*"(?:[^"\\]|\\["\\/])*"\s*$/.test(o))return`${JSON.parse(o)}
`;let[j,u]=/(?:^|[|(,\s])(?:env|\$ENV)\b(?:\.(\w+))?/.exec(o)??[];return j?u?y(u):r.PRIVATE:(0,r.isPlain)(f)&&/^(\.\w+|\.?\[\d+\])+$/.test(o)?D(f,o):s.has("n","null-input")&&/\b(join|implode|base64d|ltrimstr|sub|gsub)\b/.test(o)?r.DECODED:f.replaceAll(r.UNKNOWN,"")===""?r.UNKNOWN:f};function D(t,e){try{let n=JSON.parse(t);for(let s of e.match(/\w+/g)??[])n=Object(n)[s];return`${typeof n=="string"?n:JSON.stringify(n)}
`}catch{return r.UNKNOWN}}var b={ls:k,jq:$,yq:$,expr:({words:t})=>t.length===1?`${t[0]}
`:r.UNKNOWN,printenv:S,yes:({words:t})=>`${t.length===0?"y":t.join(" ")}
${r.ENDLESS}`,pv:t=>m(t,(0,i.readArgs)(t.words,{letters:"sLiDNB"}).rest),mktemp:A,tree:O,pwd:({shell:t})=>`${t.cwd}
`,dirname:({words:t})=>{let e=t.at(-1)??"";return e.includes("/")?`${e.replace(/\/+[^/]*\/*$/,"")||"/"}
`:(0,r.isOpaque)(e)?`${e}
`:`.
`},basename:({words:t})=>`${(t[0]??"").replace(/\/+$/,"").split("/").at(-1)}
`,realpath:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,readlink:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,type:()=>r.UNKNOWN,seq:E,whoami:({shell:t})=>`${t.world.context.home.split("/").at(-1)}
`,date:t=>{t.words.some(n=>n.startsWith("-"))&&(0,i.readArgs)(t.words,g).has("s","set")&&t.act("deny","system-config","sets the clock of the machine","Leave it to a person.");for(let n of(0,i.readArgs)(t.words,g).all("f","file"))t.file("read",n);let e=t.words.find(n=>n.startsWith("+"))?.slice(1);return e===void 0?r.UNKNOWN:`${e.replace(/%[-_0^#]?\w/g,"1")}
`},test:()=>"","[":()=>"",true:()=>"",false:()=>"",":":()=>"",sleep:()=>"",stat:t=>{let e=(0,i.readArgs)(t.words,{letters:"c",long:["format","printf"]}),n=e.value("c","format","printf");return n===void 0?r.UNKNOWN:e.rest.map(s=>`${n.replace(/%(\w)/g,(o,a)=>a==="n"?s:r.UNKNOWN)}
`).join("")},file:t=>{for(let e of(0,i.readArgs)(t.words,{letters:"fFmPe"}).all("f"))t.file("read",e);return r.UNKNOWN},du:()=>r.UNKNOWN};module.exports={answers:b};
