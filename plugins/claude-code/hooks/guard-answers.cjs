// 701da78b46253f87a26495a116c39ebc
"use strict";var guard_rules=require("./guard-rules.cjs");var c=guard_rules,i=guard_rules,r=guard_rules,f=guard_rules;var $=guard_rules,l=guard_rules,h=guard_rules;function d(t,e,n=!1){return e.length===0?t.stdin??"":e.map(s=>s==="-"||s==="/dev/stdin"?t.stdin??"":(t.file("read",s,{recursive:n}),/^\/dev\/(zero|u?random)$/.test(s)?l.ENDLESS:t.content(s))).join("")}var w=({words:t})=>{let e=t.filter(n=>!n.startsWith("-"));return e.length===0?r.PRIVATE:e.map(u).join(`
`)};function u(t){return(0,c.isSecretName)(t)?(0,r.secretOf)(t):r.UNKNOWN}var v=({words:t})=>{let e=(0,i.readArgs)(t,{letters:"fs",long:["format","separator"]});if(e.rest.some(o=>/^inf|^\d{10,}$/i.test(o)))return r.ENDLESS;let n=e.value("f","format");if(n!==void 0)return`${n.replace(/%[\d.]*[aefg]/gi,"1")}
`;let s=e.rest.at(-1)??"";return e.rest.length<3&&/^\d{2,}$/.test(s)?`1
${s}
`:`1
`},y=t=>{let e=(0,i.readArgs)(t.words,{letters:"p",long:["tmpdir","suffix"]}),[n]=e.rest;return`${(n?.includes("/")?n:`${e.value("p","tmpdir")??"/tmp"}/${n??"tmp.XXXX"}`).replace(/X{3,}/,"made-by-mktemp")}
`},x=()=>`./${r.UNKNOWN}
`,N=t=>{let e=(0,i.readArgs)(t.words,{letters:"IwT"}),{context:n}=t.shell.world;if(e.has("d","directory"))return`${e.rest.join(`
`)}
`;let s=e.rest.filter(o=>(0,r.hasGlob)(o)||(0,f.isSecretFile)(t.path(o),n,!1));if(s.length>0)return`${s.join(`
`)}
./${r.UNKNOWN}
`;if(e.rest.some(o=>o!==".")){let o=e.rest.flatMap(a=>(0,f.hiddenIn)(t.path(a),n));return`./${r.UNKNOWN}
${(e.has("a","A","all","almost-all")?o:[]).map(a=>`${a}
`).join("")}`}return e.has("a","A","all","almost-all")?`./${r.STAR}
./.${r.STAR}
`:`./${r.STAR}
`},H={letters:"dfr",long:["date","file","reference"]},p=t=>{let e=(0,i.readArgs)(t.words,{letters:"L",long:["arg","argjson","slurpfile","rawfile","indent","from-file"]}),[n="",...s]=e.rest,o=d(t,s);if(/^\s*"(?:[^"\\]|\\["\\/])*"\s*$/.test(n))return`${JSON.parse(n)}
`;let[a,m]=/(?:^|[|(,\s])(?:env|\$ENV)\b(?:\.(\w+))?/.exec(n)??[];return a?m?u(m):r.PRIVATE:(0,r.isPlain)(o)&&/^(\.\w+|\.?\[\d+\])+$/.test(n)?S(o,n):o.replaceAll(r.UNKNOWN,"")===""?r.UNKNOWN:o};function S(t,e){try{let n=JSON.parse(t);for(let s of e.match(/\w+/g)??[])n=Object(n)[s];return`${typeof n=="string"?n:JSON.stringify(n)}
`}catch{return r.UNKNOWN}}var g={ls:N,jq:p,yq:p,expr:({words:t})=>t.length===1?`${t[0]}
`:r.UNKNOWN,printenv:w,yes:({words:t})=>`${t.length===0?"y":t.join(" ")}
${r.ENDLESS}`,mktemp:y,tree:x,pwd:({shell:t})=>`${t.cwd}
`,dirname:({words:t})=>`${(t.at(-1)??"").replace(/\/+[^/]*\/*$/,"")||(t.at(-1)?.startsWith("/")?"/":".")}
`,basename:({words:t})=>`${(t[0]??"").replace(/\/+$/,"").split("/").at(-1)}
`,realpath:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,readlink:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,type:()=>r.UNKNOWN,seq:v,whoami:({shell:t})=>`${t.world.context.home.split("/").at(-1)}
`,date:t=>{t.words.some(n=>n.startsWith("-"))&&(0,i.readArgs)(t.words,H).has("s","set")&&t.act("deny","system-config","sets the clock of the machine","Leave it to a person.");let e=t.words.find(n=>n.startsWith("+"))?.slice(1);return e===void 0?r.UNKNOWN:`${e.replace(/%[-_0^#]?\w/g,"1")}
`},test:()=>"","[":()=>"",true:()=>"",false:()=>"",":":()=>"",sleep:()=>"",stat:()=>r.UNKNOWN,file:t=>{for(let e of(0,i.readArgs)(t.words,{letters:"fFmPe"}).all("f"))t.file("read",e);return r.UNKNOWN},du:()=>r.UNKNOWN};module.exports={answers:g};
