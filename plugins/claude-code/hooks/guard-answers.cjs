// be787059ec216fec3abc98dffa4ea10a
"use strict";var guard_rules=require("./guard-rules.cjs");var c=guard_rules,i=guard_rules,e=guard_rules,m=guard_rules;var $=guard_rules,f=guard_rules,h=guard_rules;function l(t,n,r=!1){return n.length===0?t.stdin??"":n.map(s=>s==="-"||s==="/dev/stdin"?t.stdin??"":(t.file("read",s,{recursive:r}),/^\/dev\/(zero|u?random)$/.test(s)?f.ENDLESS:t.content(s))).join("")}var w=({words:t})=>{let n=t.filter(r=>!r.startsWith("-"));return n.length===0?e.PRIVATE:n.map(u).join(`
`)};function u(t){return(0,c.isSecretName)(t)?(0,e.secretOf)(t):e.UNKNOWN}var y=({words:t})=>{let n=(0,i.readArgs)(t,{letters:"fs",long:["format","separator"]});return n.rest.some(r=>/^inf|^\d{10,}$/i.test(r))?e.ENDLESS:`${(n.value("f","format")??"1").replace(/%[\d.]*[aefg]/gi,"1")}
`},v=t=>{let n=(0,i.readArgs)(t.words,{letters:"p",long:["tmpdir","suffix"]}),[r]=n.rest;return`${(r?.includes("/")?r:`${n.value("p","tmpdir")??"/tmp"}/${r??"tmp.XXXX"}`).replace(/X{3,}/,"made-by-mktemp")}
`},x=()=>`./${e.UNKNOWN}
`,H=t=>{let n=(0,i.readArgs)(t.words,{letters:"IwT"}),{context:r}=t.shell.world;if(n.has("d","directory"))return`${n.rest.join(`
`)}
`;let s=n.rest.filter(o=>(0,e.hasGlob)(o)||(0,m.isSecretFile)(t.path(o),r,!1));if(s.length>0)return`${s.join(`
`)}
./${e.UNKNOWN}
`;if(n.rest.some(o=>o!==".")){let o=n.rest.flatMap(a=>(0,m.hiddenIn)(t.path(a),r));return`./${e.UNKNOWN}
${(n.has("a","A","all","almost-all")?o:[]).map(a=>`${a}
`).join("")}`}return n.has("a","A","all","almost-all")?`./${e.STAR}
./.${e.STAR}
`:`./${e.STAR}
`},S={letters:"dfr",long:["date","file","reference"]},p=t=>{let n=(0,i.readArgs)(t.words,{letters:"L",long:["arg","argjson","slurpfile","rawfile","indent","from-file"]}),[r="",...s]=n.rest,o=l(t,s);if(/^\s*"(?:[^"\\]|\\["\\/])*"\s*$/.test(r))return`${JSON.parse(r)}
`;let[a,d]=/(?:^|[|(,\s])(?:env|\$ENV)\b(?:\.(\w+))?/.exec(r)??[];return a?d?u(d):e.PRIVATE:(0,e.isPlain)(o)&&/^(\.\w+|\.?\[\d+\])+$/.test(r)?N(o,r):o.replaceAll(e.UNKNOWN,"")===""?e.UNKNOWN:o};function N(t,n){try{let r=JSON.parse(t);for(let s of n.match(/\w+/g)??[])r=Object(r)[s];return`${typeof r=="string"?r:JSON.stringify(r)}
`}catch{return e.UNKNOWN}}var g={ls:H,jq:p,yq:p,expr:({words:t})=>t.length===1?`${t[0]}
`:e.UNKNOWN,printenv:w,yes:({words:t})=>`${t.length===0?"y":t.join(" ")}
${e.ENDLESS}`,mktemp:v,tree:x,pwd:({shell:t})=>`${t.cwd}
`,dirname:({words:t})=>`${(t.at(-1)??"").replace(/\/+[^/]*\/*$/,"")||(t.at(-1)?.startsWith("/")?"/":".")}
`,basename:({words:t})=>`${(t[0]??"").replace(/\/+$/,"").split("/").at(-1)}
`,realpath:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,readlink:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,type:()=>e.UNKNOWN,seq:y,whoami:({shell:t})=>`${t.world.context.home.split("/").at(-1)}
`,date:t=>{t.words.some(r=>r.startsWith("-"))&&(0,i.readArgs)(t.words,S).has("s","set")&&t.act("deny","system-config","sets the clock of the machine","Leave it to a person.");let n=t.words.find(r=>r.startsWith("+"))?.slice(1);return n===void 0?e.UNKNOWN:`${n.replace(/%[-_0^#]?\w/g,"1")}
`},test:()=>"","[":()=>"",true:()=>"",false:()=>"",":":()=>"",sleep:()=>"",stat:()=>e.UNKNOWN,file:()=>e.UNKNOWN,du:()=>e.UNKNOWN};module.exports={answers:g};
